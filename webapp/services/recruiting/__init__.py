"""A panel's study from here: create, publish, codes, approvals, bonuses, books."""
