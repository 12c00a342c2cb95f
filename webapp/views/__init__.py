"""Views translate a request, call one service, and answer."""
