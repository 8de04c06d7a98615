// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryOneTime;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Keeps locks in Apache ZooKeeper 3.6 or newer, as ephemeral nodes of one session. A
 * quorum of the ensemble confirms each grant, instances are served first come, first
 * served, and each waiting instance is notified directly. For applications that have an
 * ensemble anyway; a lock costs a write to the disks of a majority.
 *
 * <p>
 * A crashed instance loses its locks when its session expires. A grant or a renewal
 * counts for two fifths of the session time-out, so an instance without a connection
 * knows in time that it has lost its locks. Locks cannot be kept after their release
 * ({@code holdAtLeast}).
 */
public final class ZooKeeperLockStore implements LockStore, AutoCloseable {

	private static final Set<LockMode> MODES = Collections.unmodifiableSet(EnumSet.allOf(LockMode.class));

	private static final Duration RESERVATION = Duration.ofSeconds(3);

	private final CuratorFramework client;

	private final boolean closesClient;

	private final Duration requestTimeout;

	private final Sessions sessions;

	private final WaitingLine line;

	private volatile boolean closed;

	/**
	 * Create a store that uses the session of the application.
	 * @param client the started client of the application, whose namespace and access
	 * control lists apply to the locks. Callbacks of the application that block its event
	 * thread delay the locks. To close it while locks are held releases them
	 * @param settings the settings
	 * @throws IllegalArgumentException if the client is not started
	 */
	public ZooKeeperLockStore(CuratorFramework client, ZooKeeperLockSettings settings) {
		this(client, settings, RESERVATION);
	}

	/**
	 * Create a store for a test.
	 * @param reservation how long a free lock is reserved for this instance
	 */
	ZooKeeperLockStore(CuratorFramework client, ZooKeeperLockSettings settings, Duration reservation) {
		this(started(client), settings, false, reservation);
	}

	private static CuratorFramework started(CuratorFramework client) {
		if (client.getState() != CuratorFrameworkState.STARTED) {
			throw new IllegalArgumentException("The CuratorFramework is not started, or is closed already: "
					+ "start it before the store, for example with @Bean(initMethod = \"start\")");
		}
		return client;
	}

	private ZooKeeperLockStore(CuratorFramework client, ZooKeeperLockSettings settings, boolean closesClient,
			Duration reservation) {
		this.client = client;
		this.closesClient = closesClient;
		this.requestTimeout = settings.requestTimeout();
		this.sessions = new Sessions(client, settings.root(), reservation);
		this.line = new ZooKeeperWaitingLine(this, this.sessions);
	}

	/**
	 * Create a store with a session of its own, which it closes.
	 * @param connectString the members of the ensemble, such as
	 * {@code zk1:2181,zk2:2181,zk3:2181}; a path at its end, as in {@code zk1:2181/shop},
	 * is created with the root if it does not exist
	 * @param settings the settings
	 */
	public static ZooKeeperLockStore connect(String connectString, ZooKeeperLockSettings settings) {
		// A session could not create the path of its own connect string
		int path = connectString.indexOf('/');
		String above = (path < 0 || path == connectString.length() - 1) ? "" : connectString.substring(path);
		String members = (path < 0) ? connectString : connectString.substring(0, path);
		ZooKeeperLockSettings whole = new ZooKeeperLockSettings(above + settings.root(), settings.sessionTimeout(),
				settings.requestTimeout());
		return new ZooKeeperLockStore(client(members, whole), whole, true, RESERVATION);
	}

	/**
	 * Start a client that suits a store. The caller closes it.
	 * @param connectString the members of the ensemble
	 * @param settings the settings
	 */
	public static CuratorFramework client(String connectString, ZooKeeperLockSettings settings) {
		int sessionTimeout = Math.toIntExact(settings.sessionTimeout().toMillis());
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(connectString)
			.sessionTimeoutMs(sessionTimeout)
			.connectionTimeoutMs(sessionTimeout)
			// The store itself sends no request through Curator
			.retryPolicy(new RetryOneTime(1))
			.build();
		client.start();
		return client;
	}

	@Override
	public String name() {
		return "zookeeper";
	}

	@Override
	public String address() {
		return this.client.getZookeeperClient().getCurrentConnectionString();
	}

	@Override
	public Set<LockMode> modes() {
		return MODES;
	}

	/**
	 * Wait for the client, which connects by itself.
	 */
	@Override
	public CompletionStage<?> connect() {
		return this.sessions.connected();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return limit(ask(request.key(), (line) -> line.acquire(request, wait)));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		try {
			// A holder learns that the session is in doubt long before it is lost
			Duration fraction = longestLease().dividedBy(4);
			return new LeaseChecks(current()).renew(requests)
				.stream()
				.<CompletionStage<Boolean>>map((answer) -> limit(answer, fraction))
				.toList();
		}
		catch (Exception ex) {
			return Collections.nCopies(requests.size(), CompletableFuture.failedFuture(ex));
		}
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		// It is carried out even if it takes longer than its answer may
		return limit(ask(key, (line) -> line.release(owner)).copy());
	}

	@Override
	public Optional<LockInspection> inspection() {
		return Optional.of(new ZooKeeperInspection(this));
	}

	@Override
	public WaitingLine waitingLine() {
		return this.line;
	}

	@Override
	public Duration longestLease() {
		return this.sessions.longestLease();
	}

	@Override
	public void onInterruption(Runnable task) {
		this.sessions.onInterruption(task);
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	/**
	 * Ask the line of a lock.
	 * @return the answer; if it is ended earlier, a question that has not begun is
	 * dropped
	 */
	<T> CompletableFuture<T> ask(LockKey key, Function<LockLine, CompletableFuture<T>> question) {
		try {
			return current().ask(key, question);
		}
		catch (Exception ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	<T> CompletableFuture<T> limit(CompletableFuture<T> answer) {
		return limit(answer, this.requestTimeout);
	}

	private <T> CompletableFuture<T> limit(CompletableFuture<T> answer, Duration limit) {
		long nanos = Math.min(limit.toNanos(), this.requestTimeout.toNanos());
		return answer.isDone() ? answer : answer.orTimeout(nanos, TimeUnit.NANOSECONDS);
	}

	int linesInUse() {
		LockSession session = this.sessions.last();
		return (session != null) ? session.lines().size() : 0;
	}

	LockSession current() throws Exception {
		if (this.closed) {
			throw new IllegalStateException("This store is closed");
		}
		return this.sessions.current();
	}

	/**
	 * Leave all lines, and close the session if it is this store's own. Locks that are
	 * still held keep it open until their leases end, or the JVM.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.sessions.close();
		LockSession session = this.sessions.last();
		long remaining = (session != null) ? session.leave() : 0;
		if (this.closesClient && remaining > 0) {
			Thread thread = new Thread(() -> closeAfter(remaining), "lock-zookeeper-close");
			thread.setDaemon(true);
			thread.start();
		}
		else if (this.closesClient) {
			this.client.close();
		}
	}

	private void closeAfter(long nanos) {
		try {
			TimeUnit.NANOSECONDS.sleep(nanos);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.client.close();
	}

}
