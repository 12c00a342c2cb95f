"""What `python -m analysis rehearse` tries: campaigns, their truths, and the lists of trials."""
