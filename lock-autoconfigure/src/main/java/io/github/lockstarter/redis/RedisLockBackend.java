// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LeaseExtension;
import io.github.lockstarter.backend.LockAttempt;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.backend.LockGrant;
import io.github.lockstarter.backend.LockRefusal;
import io.github.lockstarter.backend.OwnerToken;
import io.github.lockstarter.backend.ReleaseOutcome;
import io.github.lockstarter.backend.ReleaseSignal;

/**
 * Locks in Redis 6.2 or newer, or Valkey 7.2 or newer: one atomic script per operation,
 * and one channel per JVM on which it is told that a lock it waits for is free.
 *
 * <p>
 * A lock is set as {@code SET key token NX PX} does and released by compare-and-delete,
 * so programs in other languages that follow the Redis documentation exclude this one and
 * are excluded by it.
 */
public final class RedisLockBackend implements LockBackend, AutoCloseable {

	/** Waiters ask at least every few seconds, so a queue without arrivals is dead. */
	private static final byte[] QUEUE_PATIENCE = bytes("60000");

	/** Longer than a woken JVM takes to ask, if it is not paused. */
	private static final byte[] PRECEDENCE = bytes("20");

	private static final byte[] YES = bytes("1");

	private static final byte[] NO = bytes("0");

	private final byte[] jvm;

	private final RedisLockKeys keys;

	private final byte[] channelPrefix;

	private final byte[] fenceRetention;

	private final RedisLockSettings settings;

	private final LockConnections connections;

	private final ScriptConnection scripts;

	private final RedisReleaseSignal signal;

	/**
	 * Create a backend.
	 * @param connectionFactory the application's way to Redis. Of one that uses Lettuce
	 * only the configuration is used, with connections that fail fast and repeat nothing
	 * @param settings how locks are kept
	 */
	public RedisLockBackend(RedisConnectionFactory connectionFactory, RedisLockSettings settings) {
		String jvm = OwnerToken.random().value();
		this.jvm = bytes(jvm);
		this.keys = new RedisLockKeys(settings.prefix());
		this.channelPrefix = bytes(this.keys.channelPrefix());
		this.fenceRetention = millis(settings.fenceRetention());
		this.settings = settings;
		this.connections = LockConnections.derivedFrom(connectionFactory);
		this.scripts = this.connections.scripts();
		this.signal = new RedisReleaseSignal(this.connections.subscriptions(), this.keys.channel(jvm));
	}

	@Override
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		byte[][] keys = acquireKeys(key);
		byte[][] arguments = acquireArguments(owner, leaseTime, queue);
		return this.settings.awaitsReplicas() ? acquireReplicated(keys, arguments)
				: attempt(this.scripts.run(LockScript.ACQUIRE, keys, arguments));
	}

	/**
	 * Acquire, and have replicas confirm the grant. One that too few of them have may be
	 * lost in a failover, so nobody may rely on it.
	 */
	private LockAttempt acquireReplicated(byte[][] keys, byte[][] arguments) {
		int enough = this.settings.minReplicaAcks();
		Replicated<List<Long>> replicated = this.connections.replicated()
			.runReplicated(LockScript.ACQUIRE, enough, this.settings.replicaAckTimeout(), keys, arguments);
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
		CompletionStage<List<Long>> answer = this.scripts.trySend(LockScript.ACQUIRE, acquireKeys(key),
				acquireArguments(owner, leaseTime, queue));
		return (answer != null) ? answer.thenApply(RedisLockBackend::attempt) : null;
	}

	private byte[][] acquireKeys(LockKey key) {
		String lock = this.keys.lock(key);
		return keys(lock, this.keys.fence(lock), this.keys.queue(lock), this.keys.turn(lock));
	}

	private byte[][] acquireArguments(OwnerToken owner, Duration leaseTime, boolean queue) {
		return new byte[][] { bytes(owner.value()), millis(leaseTime), this.fenceRetention, this.jvm, flag(queue),
				QUEUE_PATIENCE };
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
		List<Long> answer = this.scripts.run(LockScript.RENEW, keys(this.keys.lock(key)), millis(leaseTime),
				bytes(owner.value()));
		return answer.get(0) == 1;
	}

	@Override
	public Object serverOf(LockKey key) {
		return this.scripts.isCluster() ? this.scripts.serverOf(bytes(this.keys.lock(key))) : "";
	}

	@Override
	public List<CompletionStage<Boolean>> renewAll(List<LeaseExtension> extensions) {
		// Keys of one script have to be in one slot, and are extended by one lease time
		if (this.scripts.isCluster() || extensions.stream().map(LeaseExtension::leaseTime).distinct().count() > 1) {
			return extensions.stream()
				.map((extension) -> sendRenewals(List.of(extension)).thenApply((answer) -> answer.get(0) == 1))
				.toList();
		}
		CompletionStage<List<Long>> answer = sendRenewals(extensions);
		return IntStream.range(0, extensions.size())
			.mapToObj((i) -> answer.thenApply((owned) -> owned.get(i) == 1))
			.toList();
	}

	private CompletionStage<List<Long>> sendRenewals(List<LeaseExtension> extensions) {
		byte[][] locks = new byte[extensions.size()][];
		byte[][] arguments = new byte[extensions.size() + 1][];
		arguments[0] = millis(extensions.get(0).leaseTime());
		for (int i = 0; i < locks.length; i++) {
			locks[i] = bytes(this.keys.lock(extensions.get(i).key()));
			arguments[i + 1] = bytes(extensions.get(i).owner().value());
		}
		return this.scripts.send(LockScript.RENEW, locks, arguments);
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, boolean queue) {
		String lock = this.keys.lock(key);
		return outcome(this.scripts.run(LockScript.RELEASE, releaseKeys(lock), releaseArguments(key, owner, queue)));
	}

	@Override
	public CompletionStage<ReleaseOutcome> releaseAsync(LockKey key, OwnerToken owner, boolean queue) {
		// The next acquisition takes another connection then, and must not overtake this
		if (this.settings.awaitRelease() || this.settings.awaitsReplicas()) {
			return LockBackend.super.releaseAsync(key, owner, queue);
		}
		String lock = this.keys.lock(key);
		return this.scripts.<Long>send(LockScript.RELEASE, releaseKeys(lock), releaseArguments(key, owner, queue))
			.thenApply(RedisLockBackend::outcome);
	}

	private byte[][] releaseKeys(String lock) {
		return keys(lock, this.keys.queue(lock), this.keys.turn(lock));
	}

	private byte[][] releaseArguments(LockKey key, OwnerToken owner, boolean queue) {
		return new byte[][] { bytes(owner.value()), this.jvm, flag(queue), QUEUE_PATIENCE, this.channelPrefix,
				bytes(key.toString()), PRECEDENCE, countable() };
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
		long waiting = this.scripts.<Long>run(LockScript.AWAITED, keys(this.keys.queue(this.keys.lock(key))));
		return waiting > 0;
	}

	@Override
	public void withdraw(LockKey key) {
		String lock = this.keys.lock(key);
		this.scripts.<Long>run(LockScript.WITHDRAW, releaseKeys(lock), this.jvm, this.channelPrefix,
				bytes(key.toString()), PRECEDENCE, countable());
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return this.signal;
	}

	/**
	 * Close the connections that this backend has opened.
	 */
	@Override
	public void close() {
		this.signal.close();
		this.connections.close();
	}

	private byte[] countable() {
		return flag(!this.scripts.isCluster());
	}

	private static byte[] flag(boolean value) {
		return value ? YES : NO;
	}

	private static byte[] millis(Duration duration) {
		return bytes(Long.toString(duration.toMillis()));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	private static byte[][] keys(String... texts) {
		byte[][] bytes = new byte[texts.length][];
		for (int i = 0; i < texts.length; i++) {
			bytes[i] = bytes(texts[i]);
		}
		return bytes;
	}

}
