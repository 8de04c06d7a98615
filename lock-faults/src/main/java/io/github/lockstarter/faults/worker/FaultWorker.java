// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import com.zaxxer.hikari.HikariDataSource;

import io.github.lockstarter.faults.history.HistoryWriter;

/**
 * An instance of an application, controlled by the lines of its input:
 * {@code run <mode> <history file> <key>…} makes its threads work until {@code stop},
 * {@code wait} lets new workers wait for locks, {@code silence} takes all answers of the
 * store from them until {@code speech}, {@code rest} waits until nothing is left of their
 * work, and {@code end} stops the instance.
 */
public final class FaultWorker {

	private static final int PASSERS_BY = 12;

	private static final long LONGEST_CONNECT = TimeUnit.SECONDS.toNanos(20);

	private static final long CONNECT_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_REST = TimeUnit.SECONDS.toNanos(20);

	private final String name;

	private final Competitor competitor;

	private final Duration leaseTime;

	private final LockClient client;

	private final List<Counters> counters = new ArrayList<>();

	private final Transactions transactions;

	private FaultWorker(String name, Competitor competitor, ServerAddress servers, Duration leaseTime,
			HikariDataSource pool) {
		this.name = name;
		this.competitor = competitor;
		this.leaseTime = leaseTime;
		this.client = competitor.connect(servers, leaseTime);
		this.transactions = new Transactions(pool, new TransactionGuards(competitor));
	}

	/**
	 * Run the worker.
	 * @param args its name, the competitor, the address of the servers, the lease time in
	 * milliseconds, the addresses of the databases with the counters and with the ledger,
	 * the number of threads
	 */
	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[6]);
		FaultWorker worker = new FaultWorker(args[0], Competitor.valueOf(args[1]), ServerAddress.parse(args[2]),
				Duration.ofMillis(Long.parseLong(args[3])), DatabasePool.to(args[5], threads));
		for (int i = 0; i < threads; i++) {
			worker.counters.add(new Counters(args[4]));
		}
		worker.obey();
		System.exit(0);
	}

	/**
	 * Acquire a lock before the first episode: a new JVM may take seconds to connect on a
	 * busy machine, and servers of Redlock do not vote as long as they are young.
	 */
	private void connect() throws InterruptedException {
		long start = System.nanoTime();
		boolean connected = false;
		while (!connected && System.nanoTime() - start < LONGEST_CONNECT) {
			try {
				LockClient.Held held = this.client.tryLock("start-" + this.name, Duration.ZERO);
				if (held != null) {
					held.unlock();
				}
				connected = true;
			}
			catch (RuntimeException ex) {
				System.err.println("Not connected yet: " + ex);
				LockSupport.parkNanos(CONNECT_PAUSE);
			}
		}
	}

	private void obey() throws Exception {
		connect();
		System.out.println("ready");
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		for (String line = input.readLine(); line != null; line = input.readLine()) {
			String[] words = line.split(" ");
			switch (words[0]) {
				case "run" -> {
					run(Mode.valueOf(words[1]), Path.of(words[2]), List.of(words).subList(3, words.length), input);
					System.out.println("done");
				}
				case "rest" -> System.out.println("residue " + rest(this.client::residue));
				case "end" -> {
					this.client.close();
					this.transactions.close();
					System.out.println("threads " + rest(FaultWorker::lockThreads));
					return;
				}
				default -> throw new IllegalArgumentException(line);
			}
		}
	}

	private void run(Mode mode, Path file, List<String> keys, BufferedReader input) throws Exception {
		try (HistoryWriter history = new HistoryWriter(file, this.name)) {
			AtomicBoolean stopped = new AtomicBoolean();
			Patience patience = new Patience(mode);
			List<WorkerThread> workers = new ArrayList<>();
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < mode.threads(this.counters.size()); i++) {
				WorkerThread worker = new WorkerThread(i, this.client, this.counters.get(i), this.transactions, history,
						this.competitor, this.leaseTime, mode, patience);
				workers.add(worker);
				threads.add(start("worker-" + i, () -> worker.run(keys, stopped)));
			}
			for (int i = 0; mode == Mode.CROWDED && i < PASSERS_BY; i++) {
				PasserBy other = new PasserBy(this.client, keys.get(0));
				threads.add(start("passer-by-" + i, () -> other.run(stopped)));
			}
			Disturbance disturbance = new Disturbance(workers, mode, patience);
			start("disturbance", () -> disturbance.run(this.leaseTime.multipliedBy(2).plusSeconds(1), stopped));
			for (String order = input.readLine(); order != null && !order.equals("stop"); order = input.readLine()) {
				switch (order) {
					case "wait" -> patience.learn();
					case "silence" -> this.client.store().orElseThrow().fallSilent();
					case "speech" -> this.client.store().orElseThrow().speak();
					default -> throw new IllegalArgumentException(order);
				}
			}
			stopped.set(true);
			this.client.store().ifPresent(UnansweringStore::endWaits);
			for (Thread thread : threads) {
				thread.join();
			}
		}
	}

	private static Thread start(String name, Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (Exception ex) {
				ex.printStackTrace();
			}
		}, name);
		thread.start();
		return thread;
	}

	/** Return what is still left of something when it has had the time to end. */
	private static long rest(LongSupplier left) {
		long end = System.nanoTime() + LONGEST_REST;
		while (left.getAsLong() > 0 && System.nanoTime() - end < 0) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
		}
		return left.getAsLong();
	}

	private static long lockThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("lock-") && thread.isAlive())
			.count();
	}

	private interface Work {

		void run() throws Exception;

	}

}
