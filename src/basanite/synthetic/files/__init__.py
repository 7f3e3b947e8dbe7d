"""Made-up files of the kinds that evaluations ship: packs, pictures, sounds."""
