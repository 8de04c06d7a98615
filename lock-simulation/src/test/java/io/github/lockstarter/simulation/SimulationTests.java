// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Worlds from their seeds. {@code -Dsimulation.seed=7} tells what happens in one world,
 * and {@code -Dsimulation.seconds=600} runs others for longer.
 */
class SimulationTests {

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theSameSeedGivesTheSameWorld(boolean scripts) {
		for (long seed = 1; seed <= 10; seed++) {
			World.Result first = World.run(plan(seed, scripts));
			World.Result second = World.tell(plan(seed, scripts));
			assertThat(second.hash()).as("seed %d", seed).isEqualTo(first.hash());
			assertThat(second.acquisitions()).as("seed %d", seed).isEqualTo(first.acquisitions());
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nothingIsFoundInTheFirstWorlds(boolean scripts) {
		for (long seed = 1; seed <= 60; seed++) {
			nothingIsFound(seed, scripts);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	@Tag("full")
	void nothingIsFoundInNewWorlds(boolean scripts) {
		Long wanted = Long.getLong("simulation.seed");
		if (wanted != null) {
			World.tell(plan(wanted, scripts)).timeline().forEach(System.out::println);
			nothingIsFound(wanted, scripts);
			return;
		}
		long end = System.nanoTime() + Duration.ofSeconds(Integer.getInteger("simulation.seconds", 60)).toNanos();
		long seed = ThreadLocalRandom.current().nextLong(1L << 40);
		while (end - System.nanoTime() > 0) {
			nothingIsFound(seed++, scripts);
		}
	}

	/** A clock that is negative, and a reader that could not join another one. */
	@Test
	void nothingIsFoundWhereACourtesyOnceLastedForCenturies() {
		nothingIsFound(82, true);
	}

	private static void nothingIsFound(long seed, boolean scripts) {
		World.Result world = World.run(plan(seed, scripts));
		if (!world.findings().isEmpty()) {
			World.tell(world.plan()).timeline().forEach(System.out::println);
		}
		assertThat(world.findings()).as("world of -Dsimulation.seed=%d: %s", seed, world.plan()).isEmpty();
	}

	private static World.Plan plan(long seed, boolean scripts) {
		return scripts ? World.Plan.of(seed).withScripts() : World.Plan.of(seed);
	}

}
