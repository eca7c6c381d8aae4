# The steps of .ci/run before the tests, and what each of them needs. `.ci/run` has their commands.
STEPS := dependencies python_3_13 compiled lint benchmarks package live_benchmarks documents collect score \
	demonstration same_games

.PHONY: all $(STEPS)
all: $(STEPS)

compiled lint: dependencies
benchmarks live_benchmarks package documents collect score demonstration same_games: compiled
same_games: python_3_13

$(STEPS):
	@.ci/run $@
