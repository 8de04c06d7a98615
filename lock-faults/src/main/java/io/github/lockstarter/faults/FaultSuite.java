// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

import org.h2.tools.Server;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.nemesis.Crew;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.Site;
import io.github.lockstarter.faults.nemesis.SiteKind;
import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.Counters;
import io.github.lockstarter.faults.worker.Ledger;

/**
 * Attacks the locks of a competitor with one fault after the other. No fault affects the
 * databases that the locks protect, unless one of them also keeps the locks.
 */
final class FaultSuite implements AutoCloseable {

	private static final int MOST_REPETITIONS = 3;

	private static final Duration LONGEST_END = Duration.ofSeconds(10);

	private final Path directory;

	private final Duration leaseTime;

	private final Random random;

	private final Server database;

	private final String url;

	private final Counters counters;

	/** Its JDBC URL, or {@code null} if it is where the locks are. */
	private final @Nullable String ledger;

	private int episodes;

	/**
	 * Create a suite.
	 * @param directory for histories and logs
	 * @param seed the seed of random choices
	 * @param ledger where the transactions have their ledger
	 */
	FaultSuite(Path directory, Duration leaseTime, long seed, LedgerDatabase ledger) throws Exception {
		this.directory = directory;
		this.leaseTime = leaseTime;
		this.random = new Random(seed);
		String name = "mem:" + UUID.randomUUID();
		this.counters = new Counters("jdbc:h2:" + name);
		this.counters.createTable();
		this.database = Server.createTcpServer("-tcpPort", "0").start();
		this.url = "jdbc:h2:tcp://127.0.0.1:" + this.database.getPort() + "/" + name;
		this.ledger = ledger.create();
	}

	/**
	 * Run one episode for each fault, in this order and with the same workers.
	 */
	List<EpisodeResult> run(Competitor competitor, SiteKind kind, List<Fault> faults) throws Exception {
		List<EpisodeResult> results = new ArrayList<>();
		Path directory = Files.createTempDirectory(Files.createDirectories(this.directory), competitor.name());
		try (Site site = kind.start();
				Crew crew = new Crew(competitor, site, this.leaseTime, this.url, this.ledger, directory)) {
			Ledger ledger = ledger(site);
			for (Fault fault : faults) {
				results.add(run(fault, kind, site, crew, ledger));
			}
			int threads = crew.end();
			List<String> channels = awaitNoChannels(site);
			if (threads > 0 || !channels.isEmpty()) {
				EpisodeResult last = results.get(results.size() - 1);
				last.violations()
					.add(new Violation("residue", threads + " threads and the subscriptions " + channels + " were left",
							List.of()));
			}
		}
		return results;
	}

	/** A server may not have read the end of each connection yet. */
	private static List<String> awaitNoChannels(Site site) throws InterruptedException {
		long start = System.nanoTime();
		List<String> channels = site.channels().toList();
		while (!channels.isEmpty() && System.nanoTime() - start < LONGEST_END.toNanos()) {
			Thread.sleep(50);
			channels = site.channels().toList();
		}
		return channels;
	}

	private EpisodeResult run(Fault fault, SiteKind kind, Site site, Crew crew, Ledger ledger) throws Exception {
		for (int repetitions = 0;; repetitions++) {
			EpisodeResult result = new Episode(++this.episodes, fault, kind.deployment().store(), site, crew,
					this.counters, ledger, this.random)
				.run();
			System.out.println(FaultReport.line(result));
			if (!result.inconclusive() || repetitions == MOST_REPETITIONS) {
				return result;
			}
			System.out.println("  The machine stood still, so this episode is repeated");
		}
	}

	private Ledger ledger(Site site) throws SQLException {
		String url = (this.ledger != null) ? this.ledger : site.database();
		Assert.state(url != null, "Only the locks of a database can share it with a ledger");
		Ledger ledger = new Ledger(url);
		ledger.createTables();
		return ledger;
	}

	@Override
	public void close() throws Exception {
		this.counters.close();
		this.database.stop();
	}

}
