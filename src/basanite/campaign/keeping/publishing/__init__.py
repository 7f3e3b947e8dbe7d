"""What a campaign has released, as a static site that needs no server (P-29)."""
