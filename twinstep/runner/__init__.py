"""A candidate behind contract checks, in this process or in an isolated one."""
