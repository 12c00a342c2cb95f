"""Django's databases with less work for each statement: the same SQL, put together more quickly.

Half of the time of a page was Django that writes the columns of its models anew for each query.
"""
