"""Results with everything left out that their viewer may not see."""
