"""What organizers do, one action at a time: plans, references, re-scoring, appeals, releases, approvals."""
