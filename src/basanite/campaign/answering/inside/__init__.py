"""What runs in the limited child: packages, statements, rules, queries and answers are parsed here alone (X-8).

It has no network and no database, sees the files of its order alone, and ends at its limits. Nothing outside of this
folder reads what strangers wrote.
"""
