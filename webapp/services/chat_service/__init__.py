"""A chat service as another door to conversations: what comes in, what is told, what goes out."""
