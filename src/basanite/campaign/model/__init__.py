"""What a campaign is and what follows from it, without clock, disk or database: all of these come in as arguments."""
