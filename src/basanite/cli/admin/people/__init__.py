"""`basanite admin`: people, teams, their rights and what they signed."""
