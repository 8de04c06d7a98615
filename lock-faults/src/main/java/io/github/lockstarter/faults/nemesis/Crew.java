// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.worker.Competitor;
import io.github.lockstarter.faults.worker.FaultWorker;
import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * The workers that use the locks of one competitor. A killed worker is replaced.
 */
public final class Crew implements AutoCloseable {

	static final int SIZE = 3;

	private static final int THREADS = 4;

	private final Competitor competitor;

	private final Site site;

	private final Duration leaseTime;

	private final String database;

	private final @Nullable String ledger;

	private final Path directory;

	private final List<WorkerJvm> workers = new ArrayList<>();

	private final String[] names = new String[SIZE];

	private final List<Path> histories = new ArrayList<>();

	private final Set<String> keysOfKilled = new HashSet<>();

	private List<String> keys = List.of();

	private String orders = "";

	private int started;

	/**
	 * Start the workers.
	 * @param database the address of the database with the counters
	 * @param ledger the address of the database with the ledger, or {@code null} if it is
	 * the one that keeps the locks
	 */
	public Crew(Competitor competitor, Site site, Duration leaseTime, String database, @Nullable String ledger,
			Path directory) throws Exception {
		this.competitor = competitor;
		this.site = site;
		this.leaseTime = leaseTime;
		this.database = database;
		this.ledger = ledger;
		this.directory = Files.createDirectories(directory);
		for (int i = 0; i < SIZE; i++) {
			this.workers.add(start(i));
		}
		for (WorkerJvm worker : this.workers) {
			worker.await("ready");
		}
	}

	private WorkerJvm start(int number) throws IOException {
		String name = "w" + ++this.started;
		ServerAddress servers = this.site.address(number);
		this.names[number] = name;
		return WorkerJvm.start(List.of("-Xmx192m", "-Dlogback.configurationFile=logback.xml"),
				ProcessBuilder.Redirect.appendTo(this.directory.resolve(name + ".log").toFile()), FaultWorker.class,
				name, this.competitor.name(), servers, this.leaseTime.toMillis(), this.database,
				(this.ledger != null) ? this.ledger : servers.nodes().get(0), THREADS);
	}

	public Competitor competitor() {
		return this.competitor;
	}

	public Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Return the workers that are alive.
	 */
	public List<WorkerJvm> workers() {
		return List.copyOf(this.workers);
	}

	/**
	 * Return the names of the living workers in their histories.
	 */
	public List<String> names() {
		return List.of(this.names);
	}

	/**
	 * Return the history files of the current episode.
	 */
	public List<Path> histories() {
		return List.copyOf(this.histories);
	}

	/**
	 * Let all workers begin to work.
	 * @param episode the name of the episode
	 */
	public void begin(String episode, Mode mode, List<String> keys) throws Exception {
		if (mode.isOfNewWorkers()) {
			replaceAll();
		}
		this.histories.clear();
		this.keys = List.copyOf(keys);
		this.orders = "run " + mode + " " + this.directory.resolve(episode) + "-%d.history " + String.join(" ", keys);
		for (WorkerJvm worker : this.workers) {
			order(worker);
		}
	}

	private void order(WorkerJvm worker) throws IOException {
		String orders = this.orders.formatted(this.histories.size());
		Path history = Path.of(orders.split(" ")[2]);
		Files.createFile(history);
		this.histories.add(history);
		worker.say(orders);
	}

	/**
	 * Kill a worker as {@code kill -9} does, and start another one in its place.
	 */
	void replace(WorkerJvm worker) throws Exception {
		worker.kill();
		this.keysOfKilled.addAll(this.keys);
		int number = this.workers.indexOf(worker);
		WorkerJvm other = start(number);
		this.workers.set(number, other);
		other.await("ready");
		order(other);
	}

	/**
	 * Return whether what is left may be the place of a killed waiter. A database keeps
	 * it until somebody uses the lock a minute later, and the row anyway.
	 */
	public boolean mayBeOfKilledWaiter(String left) {
		return left.startsWith(DatabaseSite.WAITERS) && this.keysOfKilled.stream().anyMatch(left::endsWith);
	}

	private void replaceAll() throws Exception {
		for (int i = 0; i < SIZE; i++) {
			this.workers.get(i).kill();
			this.workers.set(i, start(i));
		}
		for (WorkerJvm worker : this.workers) {
			worker.await("ready");
		}
	}

	/**
	 * Let all workers stop working, and wait until nothing is left of their work.
	 * @return how many locks and background actions are left, which should be none
	 */
	public int rest() throws Exception {
		for (WorkerJvm worker : this.workers) {
			worker.say("stop");
		}
		for (WorkerJvm worker : this.workers) {
			worker.await("done");
		}
		int residue = 0;
		for (WorkerJvm worker : this.workers) {
			worker.say("rest");
			residue += Integer.parseInt(worker.await("residue"));
		}
		return residue;
	}

	/**
	 * Let all workers close their connections and end.
	 * @return how many threads of locks are left, which should be none
	 */
	public int end() throws Exception {
		int threads = 0;
		for (WorkerJvm worker : this.workers) {
			worker.say("end");
			threads += Integer.parseInt(worker.await("threads"));
		}
		return threads;
	}

	@Override
	public void close() {
		this.workers.forEach(WorkerJvm::close);
	}

}
