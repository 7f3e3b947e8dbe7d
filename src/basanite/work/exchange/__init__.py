"""Annotations in the forms that other tools read and write; what a form cannot keep is said (P-32)."""
