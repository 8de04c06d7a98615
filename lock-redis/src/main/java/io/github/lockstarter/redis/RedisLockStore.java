// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Keeps locks in Redis 6.2 or newer, or Valkey 7.2 or newer: with one atomic script per
 * operation, and one channel per JVM for messages about released locks.
 *
 * <p>
 * A lock is set as by {@code SET key token NX PX} and released by compare-and-delete.
 * Programs in other languages that follow the Redis documentation exclude this one and
 * are excluded by it.
 */
public final class RedisLockStore implements LockStore, AutoCloseable {

	private static final Set<LockMode> MODES = Collections.unmodifiableSet(EnumSet.allOf(LockMode.class));

	private final String address;

	private final RedisLockSettings settings;

	private final LockConnections connections;

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	private final RedisReleaseSignal signal;

	private final WaitingLine line;

	private final Optional<LockKeeping> keeping = Optional.of(this::keep);

	private final Optional<LockInspection> inspection;

	private final boolean awaitingReleases;

	private final Distance distance;

	private final LongSupplier clock;

	/**
	 * Create a store with the {@linkplain RedisLockSettings#DEFAULTS default settings}.
	 * @param connectionFactory the connections of the application
	 */
	public RedisLockStore(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, RedisLockSettings.DEFAULTS);
	}

	/**
	 * Create a store.
	 * @param connectionFactory the connections of the application. With Lettuce only
	 * their configuration is used, for separate connections that fail fast and repeat no
	 * command
	 * @param settings the settings
	 */
	public RedisLockStore(RedisConnectionFactory connectionFactory, RedisLockSettings settings) {
		this(connectionFactory, settings, new Distance());
	}

	RedisLockStore(RedisConnectionFactory connectionFactory, RedisLockSettings settings, Distance distance) {
		this(LockConnections.addressOf(connectionFactory), LockConnections.derivedFrom(connectionFactory), settings,
				distance, System::nanoTime, RedisReleaseSignal.threads(), OwnerToken.randomId());
	}

	/**
	 * Create a store whose connections, clock, threads and random id a simulation may
	 * replace.
	 */
	RedisLockStore(String address, LockConnections connections, RedisLockSettings settings, Distance distance,
			LongSupplier clock, Executor threads, String randomId) {
		RedisLockKeys keys = new RedisLockKeys(settings.prefix());
		this.address = address;
		this.settings = settings;
		this.distance = distance;
		this.clock = clock;
		this.connections = connections;
		this.scripts = connections.scripts();
		this.calls = new LockScriptCalls(keys, settings.fenceRetention(), this.scripts::isCluster, distance, randomId);
		this.signal = new RedisReleaseSignal(connections.subscriptions(), () -> keys.channel(this.calls.id()), clock,
				threads);
		this.scripts.onDoubt(this.signal::renew);
		this.connections.replicated().onDoubt(this.signal::renew);
		this.line = new RedisWaitingLine(this.scripts, this.calls, this.signal);
		this.inspection = Optional.of(new RedisInspection(this.scripts, this.calls));
		// The next acquisition uses another connection if it awaits replicas
		this.awaitingReleases = settings.awaitRelease() || settings.awaitsReplicas();
	}

	@Override
	public String address() {
		return this.address;
	}

	@Override
	public void setInstance(String name) {
		this.calls.setInstance(name);
	}

	@Override
	public Set<LockMode> modes() {
		return MODES;
	}

	@Override
	public CompletionStage<?> connect() {
		return this.settings.awaitsReplicas()
				? CompletableFuture.allOf(this.scripts.connect(), this.connections.replicated().connect())
				: this.scripts.connect();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		boolean inLine = wait;
		if (this.settings.awaitsReplicas()) {
			return acquireReplicated(request, inLine);
		}
		long sentAt = this.clock.getAsLong();
		return this.scripts.send(() -> this.calls.acquire(request, inLine),
				(List<Object> answer) -> attempt(answer, sentAt));
	}

	private AcquireResult attempt(List<Object> answer, long sentAt) {
		this.distance.measured(this.clock.getAsLong() - sentAt);
		long number = (long) answer.get(1);
		if ((long) answer.get(0) == 1) {
			return new AcquireResult.Grant(number);
		}
		byte[] holder = (byte[]) answer.get(2);
		return new AcquireResult.Refusal((number >= 0) ? Duration.ofMillis(number) : null,
				(holder.length > 0) ? OwnerToken.holder(new String(holder, StandardCharsets.UTF_8)) : null);
	}

	/**
	 * Acquire a lock, and wait until replicas confirm the grant. A grant on too few
	 * replicas may be lost in a failover, so no owner may rely on it.
	 */
	private CompletionStage<AcquireResult> acquireReplicated(LeaseRequest request, boolean inLine) {
		int enough = this.settings.minReplicaAcks();
		long sentAt = this.clock.getAsLong();
		try {
			Replicated<List<Object>> replicated = this.connections.replicated()
				.runReplicated(this.calls.acquire(request, inLine), enough, this.settings.replicaAckTimeout());
			AcquireResult attempt = attempt(replicated.answer(), sentAt);
			if (attempt instanceof AcquireResult.Grant && replicated.replicas() < enough) {
				throw new IllegalStateException("Replicas that have confirmed the grant within "
						+ this.settings.replicaAckTimeout().toMillis() + " ms: " + replicated.replicas()
						+ "; distributed-lock.redis.min-replica-acks requires " + enough);
			}
			return CompletableFuture.completedFuture(attempt);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		Map<LeaseRequest, CompletionStage<Boolean>> answers = new HashMap<>();
		try {
			requests.stream().collect(Collectors.groupingBy(this::togetherWith)).values().forEach((together) -> {
				List<CompletionStage<Boolean>> sent = sendRenewals(together);
				IntStream.range(0, sent.size()).forEach((i) -> answers.put(together.get(i), sent.get(i)));
			});
			return requests.stream().map((request) -> Objects.requireNonNull(answers.get(request))).toList();
		}
		catch (RuntimeException ex) {
			return Collections.nCopies(requests.size(), CompletableFuture.failedFuture(ex));
		}
	}

	/**
	 * The keys of one script must be in one slot, and are extended by the same lease
	 * time.
	 */
	private Object togetherWith(LeaseRequest request) {
		return this.scripts.isCluster() ? request
				: List.of(request.leaseTime(), request.owner().mode() == LockMode.READ);
	}

	private List<CompletionStage<Boolean>> sendRenewals(List<LeaseRequest> requests) {
		CompletableFuture<List<Long>> answer = this.scripts.send(() -> this.calls.renew(requests), Function.identity());
		return IntStream.range(0, requests.size())
			.<CompletionStage<Boolean>>mapToObj((i) -> answer.thenApply((owned) -> owned.get(i) == 1))
			.toList();
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		CompletableFuture<Boolean> answer = this.scripts
			.send(() -> this.calls.release(key, owner, this.scripts.mayRepeat()), (Long released) -> released == 1);
		if (this.awaitingReleases) {
			answer.handle((released, ex) -> released).join();
		}
		return answer;
	}

	private CompletionStage<Boolean> keep(LockKey key, OwnerToken owner, Duration time) {
		return this.scripts.send(() -> this.calls.keep(key, owner, time), (Long kept) -> kept == 1);
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.keeping;
	}

	@Override
	public Optional<LockInspection> inspection() {
		return this.inspection;
	}

	@Override
	public WaitingLine waitingLine() {
		return this.line;
	}

	@Override
	public void onInterruption(Runnable task) {
		this.scripts.onInterruption(task);
	}

	@Override
	public boolean mayBlock() {
		return this.awaitingReleases || this.scripts.mayBlock();
	}

	/**
	 * Close the connections that this store has opened.
	 */
	@Override
	public void close() {
		this.signal.close();
		this.connections.close();
	}

}
