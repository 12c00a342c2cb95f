"""Schema of the wire: OpenAPI for the addresses, AsyncAPI for the frames of a socket."""
