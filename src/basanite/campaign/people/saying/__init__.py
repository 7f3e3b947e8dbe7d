"""What organisers and people say to each other: announcements, questions, mails to roles, and calls to programs."""
