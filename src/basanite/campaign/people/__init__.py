"""People and teams: personal data that can be forgotten, roles that exclude each other, agreements and rules."""
