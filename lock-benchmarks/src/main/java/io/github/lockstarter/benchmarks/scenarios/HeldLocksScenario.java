// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitor.Ability;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * Many locks held through three renewals.
 */
final class HeldLocksScenario implements Scenario {

	private static final long LEASE_MILLIS = 9_000;

	private static final long RENEWAL_MILLIS = LEASE_MILLIS / 3;

	private static final int RENEWALS = 3;

	/** Some locks look at all others of their thread when they are acquired. */
	private static final int LOCKS_PER_THREAD = 500;

	private final int locks;

	HeldLocksScenario(int locks) {
		this.locks = locks;
	}

	@Override
	public String name() {
		return "held-" + this.locks;
	}

	@Override
	public String title() {
		return this.locks + " held locks through three renewals, lease 9 s";
	}

	@Override
	public Metric headline() {
		return Metric.RENEWAL_CPU;
	}

	@Override
	public boolean suits(Competitor competitor) {
		return competitor.abilities().containsAll(List.of(Ability.DISTRIBUTED, Ability.RENEWED));
	}

	@Override
	public boolean suits(ServerKind server) {
		return server == ServerKind.REDIS;
	}

	@Override
	public Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception {
		List<Holder> holders = new ArrayList<>();
		try (LockClient client = competitor.connect(server.address(), LEASE_MILLIS)) {
			client.lock("warm-up").run();
			long heapBefore = usedHeap();
			for (int i = 0; i < this.locks; i += LOCKS_PER_THREAD) {
				holders.add(new Holder(client, i, Math.min(this.locks, i + LOCKS_PER_THREAD)));
			}
			for (Holder holder : holders) {
				holder.thread.submit(holder::acquire).get();
			}
			long heap = usedHeap() - heapBefore;
			// The JVM compiles the code of renewals during the first ones
			TimeUnit.MILLISECONDS.sleep(RENEWAL_MILLIS + RENEWAL_MILLIS / 3);
			server.resetCalls();
			long clientBefore = Load.processCpuNanos();
			double serverBefore = serverCpuSeconds(server);
			TimeUnit.MILLISECONDS.sleep(RENEWALS * RENEWAL_MILLIS);
			double cpuMillis = (Load.processCpuNanos() - clientBefore) / 1e6
					+ (serverCpuSeconds(server) - serverBefore) * 1e3;
			Map<Metric, Double> results = new EnumMap<>(Metric.class);
			results.put(Metric.RENEWAL_CPU, cpuMillis / RENEWALS);
			results.put(Metric.RENEWAL_COMMANDS, competitor.clientCommands(server.calls(), 0) / (double) RENEWALS);
			results.put(Metric.HEAP, heap / (double) this.locks);
			double lost = 0;
			for (Holder holder : holders) {
				lost += holder.thread.submit(holder::release).get();
			}
			results.put(Metric.LOST_LOCKS, lost);
			return results;
		}
		finally {
			holders.forEach((holder) -> holder.thread.shutdown());
		}
	}

	private static double serverCpuSeconds(BenchmarkServer server) {
		return server.counters()
			.command("INFO", "cpu")
			.lines()
			.filter((line) -> line.startsWith("used_cpu_sys:") || line.startsWith("used_cpu_user:"))
			.mapToDouble((line) -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
			.sum();
	}

	private static long usedHeap() {
		System.gc();
		Runtime runtime = Runtime.getRuntime();
		return runtime.totalMemory() - runtime.freeMemory();
	}

	/**
	 * A thread and its locks.
	 */
	private static final class Holder {

		private final ExecutorService thread = Executors.newSingleThreadExecutor();

		private final LockClient client;

		private final int from;

		private final int to;

		private final List<Runnable> releases = new ArrayList<>();

		Holder(LockClient client, int from, int to) {
			this.client = client;
			this.from = from;
			this.to = to;
		}

		@Nullable Void acquire() throws Exception {
			for (int i = this.from; i < this.to; i++) {
				this.releases.add(this.client.lock("held-" + i));
			}
			return null;
		}

		int release() {
			int lost = 0;
			for (Runnable release : this.releases) {
				try {
					release.run();
				}
				catch (RuntimeException ex) {
					lost++;
				}
			}
			return lost;
		}

	}

}
