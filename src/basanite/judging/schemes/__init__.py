"""Schemes of judging: what is asked, of whom, how often and for what pay, as a file that is checked as a whole."""
