// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.ReleaseSignal;

/**
 * Locks in Redis 6.2 or newer, or Valkey 7.2 or newer: one atomic script per operation,
 * and one channel per JVM on which it is told that a lock it waits for is free.
 *
 * <p>
 * A lock is set as {@code SET key token NX PX} does and released by compare-and-delete,
 * so programs in other languages that follow the Redis documentation exclude this one and
 * are excluded by it.
 */
public final class RedisLockStore implements LockStore, AutoCloseable {

	private final RedisLockSettings settings;

	private final LockConnections connections;

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	private final RedisReleaseSignal signal;

	private final Distance distance = new Distance();

	/**
	 * Create a store.
	 * @param connectionFactory the application's way to Redis. Of one that uses Lettuce
	 * only the configuration is used, with connections that fail fast and repeat nothing
	 * @param settings how locks are kept
	 */
	public RedisLockStore(RedisConnectionFactory connectionFactory, RedisLockSettings settings) {
		String jvm = '.' + OwnerToken.random().value();
		RedisLockKeys keys = new RedisLockKeys(settings.prefix());
		this.settings = settings;
		this.connections = LockConnections.derivedFrom(connectionFactory);
		this.scripts = this.connections.scripts();
		this.calls = new LockScriptCalls(keys, settings.fenceRetention(), jvm, this.scripts::isCluster, this.distance);
		this.signal = new RedisReleaseSignal(this.connections.subscriptions(), keys.channel(jvm));
	}

	@Override
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		ScriptCall call = this.calls.acquire(key, owner, leaseTime, queue);
		long sentAt = System.nanoTime();
		LockAttempt attempt = this.settings.awaitsReplicas() ? acquireReplicated(call)
				: attempt(this.scripts.run(call));
		this.distance.measured(System.nanoTime() - sentAt);
		return attempt;
	}

	/**
	 * Acquire, and have replicas confirm the grant. One that too few of them have may be
	 * lost in a failover, so nobody may rely on it.
	 */
	private LockAttempt acquireReplicated(ScriptCall call) {
		int enough = this.settings.minReplicaAcks();
		Replicated<List<Long>> replicated = this.connections.replicated()
			.runReplicated(call, enough, this.settings.replicaAckTimeout());
		LockAttempt attempt = attempt(replicated.answer());
		if (attempt instanceof LockGrant && replicated.replicas() < enough) {
			throw new IllegalStateException("Only " + replicated.replicas()
					+ " replicas have confirmed the grant within " + this.settings.replicaAckTimeout().toMillis()
					+ " ms; distributed-lock.redis.min-replica-acks wants " + enough);
		}
		return attempt;
	}

	@Override
	public @Nullable CompletionStage<LockAttempt> acquireAsync(LockKey key, OwnerToken owner, Duration leaseTime,
			boolean queue) {
		if (this.settings.awaitsReplicas()) {
			return null;
		}
		ScriptCall call = this.calls.acquire(key, owner, leaseTime, queue);
		long sentAt = System.nanoTime();
		CompletionStage<List<Long>> sent = this.scripts.trySend(call);
		return (sent != null) ? sent.thenApply((answer) -> {
			this.distance.measured(System.nanoTime() - sentAt);
			return attempt(answer);
		}) : null;
	}

	@Override
	public @Nullable List<LockGrant> acquireAll(List<LeaseRequest> requests) {
		ScriptCall call = this.calls.acquireAll(requests);
		boolean possible = !this.settings.awaitsReplicas()
				&& (!this.scripts.isCluster() || ClusterSlotHashUtil.isSameSlotForAllKeys(call.keys()));
		if (!possible) {
			return null;
		}
		List<Long> answer = this.scripts.run(call);
		return IntStream.range(0, answer.size() / 2)
			.mapToObj((i) -> new LockGrant(answer.get(2 * i), answer.get(2 * i + 1) > 0))
			.toList();
	}

	private static LockAttempt attempt(List<Long> answer) {
		long number = answer.get(1);
		if (answer.get(0) == 1) {
			return new LockGrant(number, answer.get(2) > 0);
		}
		return new LockRefusal((number >= 0) ? Duration.ofMillis(number) : null);
	}

	@Override
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		List<Long> answer = this.scripts.run(this.calls.renew(List.of(new LeaseRequest(key, owner, leaseTime))));
		return answer.get(0) == 1;
	}

	@Override
	public Object serverOf(LockKey key) {
		return this.scripts.isKnownAsCluster() ? this.scripts.serverOf(this.calls.lock(key)) : "";
	}

	@Override
	public @Nullable Runnable serverLookup() {
		return this.scripts.serverLookup();
	}

	@Override
	public List<CompletionStage<Boolean>> renewAll(List<LeaseRequest> extensions) {
		Map<LeaseRequest, CompletionStage<Boolean>> answers = new HashMap<>();
		extensions.stream().collect(Collectors.groupingBy(this::togetherWith)).values().forEach((together) -> {
			List<CompletionStage<Boolean>> sent = sendRenewals(together);
			IntStream.range(0, sent.size()).forEach((i) -> answers.put(together.get(i), sent.get(i)));
		});
		return extensions.stream().map((extension) -> Objects.requireNonNull(answers.get(extension))).toList();
	}

	/** Keys of one script have to be in one slot, and are extended by one lease time. */
	private Object togetherWith(LeaseRequest extension) {
		return this.scripts.isCluster() ? extension
				: List.of(extension.leaseTime(), extension.owner().mode() == LockMode.READ);
	}

	private List<CompletionStage<Boolean>> sendRenewals(List<LeaseRequest> extensions) {
		CompletionStage<List<Long>> answer = this.scripts.send(this.calls.renew(extensions));
		return IntStream.range(0, extensions.size())
			.mapToObj((i) -> answer.thenApply((owned) -> owned.get(i) == 1))
			.toList();
	}

	@Override
	public boolean keep(LockKey key, OwnerToken owner, Duration time) {
		long kept = this.scripts.<Long>run(this.calls.keep(key, owner, time));
		return kept == 1;
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return outcome(this.scripts.run(releaseCall(key, owner, next)));
	}

	@Override
	public CompletionStage<ReleaseOutcome> releaseAsync(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		// The next acquisition takes another connection then, and must not overtake this
		if (this.settings.awaitRelease() || this.settings.awaitsReplicas()) {
			return LockStore.super.releaseAsync(key, owner, next);
		}
		return this.scripts.<Long>send(releaseCall(key, owner, next)).thenApply(RedisLockStore::outcome);
	}

	private ScriptCall releaseCall(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return this.calls.release(key, owner, next, this.scripts.mayRepeat());
	}

	private static ReleaseOutcome outcome(long answer) {
		return switch ((int) answer) {
			case 0 -> ReleaseOutcome.NOT_OWNER;
			case 1 -> ReleaseOutcome.RELEASED;
			default -> ReleaseOutcome.RELEASED_TO_WAITER;
		};
	}

	@Override
	public boolean isAwaited(LockKey key) {
		long waiting = this.scripts.<Long>run(this.calls.awaited(key));
		return waiting > 0;
	}

	@Override
	public @Nullable CompletionStage<Boolean> isAwaitedAsync(LockKey key) {
		CompletionStage<Long> answer = this.scripts.trySend(this.calls.awaited(key));
		return (answer != null) ? answer.thenApply((waiting) -> waiting > 0) : null;
	}

	@Override
	public void arrive(LockKey key, OwnerToken owner) {
		this.scripts.<Long>run(this.calls.arrive(key, owner));
	}

	@Override
	public void withdraw(LockKey key) {
		this.scripts.<Long>run(this.calls.withdraw(key, null));
	}

	@Override
	public void withdraw(LockKey key, OwnerToken owner) {
		this.scripts.<Long>run(this.calls.withdraw(key, owner));
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return this.signal;
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
