"""Reading in a campaign: packages, tasks, services, answers of machines and people, adjudication, and growing gold."""
