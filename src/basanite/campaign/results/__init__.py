"""What anybody gets to see of results: every page, answer, mail and export asks here, and here the policy is asked."""
