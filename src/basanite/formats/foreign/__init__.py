"""Files that other programs of evaluation read and write; what a form cannot keep is said (P-32)."""
