// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Runs worlds, one seed after another, and prints what was found.
 */
public final class SimulationRun {

	private SimulationRun() {
	}

	/**
	 * Return what is found in the world of a seed.
	 * @return {@code null} if nothing is
	 */
	public static @Nullable String find(long seed) {
		World.Result world = World.run(World.Plan.of(seed));
		return world.findings().isEmpty() ? null : world.findings().get(0);
	}

	/**
	 * Run.
	 * @param arguments the first seed, how many, and perhaps "scripts" and "tell"
	 */
	public static void main(String[] arguments) {
		long first = Long.parseLong(arguments[0]);
		int count = Integer.parseInt(arguments[1]);
		boolean tell = List.of(arguments).contains("tell");
		boolean scripts = List.of(arguments).contains("scripts");
		long begin = System.nanoTime();
		long acquisitions = 0;
		long nanos = 0;
		long strikes = 0;
		int found = 0;
		for (long seed = first; seed < first + count; seed++) {
			World.Plan plan = scripts ? World.Plan.of(seed).withScripts() : World.Plan.of(seed);
			World.Result result = tell ? World.tell(plan) : World.run(plan);
			acquisitions += result.acquisitions();
			nanos += result.nanos();
			strikes += result.strikes();
			result.timeline().forEach(System.out::println);
			if (tell) {
				System.out.println(result.hash());
			}
			if (!result.findings().isEmpty()) {
				found++;
				System.out.println(seed + ": " + result.findings().get(0) + " " + result.plan());
			}
		}
		double seconds = (System.nanoTime() - begin) / 1e9;
		System.out.printf("%d worlds, %d found, %d acquisitions, %d faults, %.0f simulated s in %.1f s: %.0f/s%n",
				count, found, acquisitions, strikes, nanos / 1e9, seconds, acquisitions / seconds);
	}

}
