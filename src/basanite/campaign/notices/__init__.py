"""What goes out to people and programs: mails and webhook calls, written with their cause and sent by a worker."""
