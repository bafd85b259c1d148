.PHONY: tracer
tracer:
