// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * One of the independent servers that vote on the owner of a lock. It is a part of
 * {@code RedlockStore}, and of no use without it. No request blocks. Requests for one
 * lock take effect in the order of the calls.
 */
public final class RedisVoter implements Voter, AutoCloseable {

	private static final Log logger = LogFactory.getLog(RedisVoter.class);

	/**
	 * Bounds what is kept in memory for a server that does not answer: requests that are
	 * sent, as many that are not, and as many releases to repeat.
	 */
	private static final int MOST_UNANSWERED = 16_384;

	private static final Function<Long, Boolean> DONE = (answer) -> answer == 1;

	/** How long a server that could not be reached is left alone. */
	private static final long REST = Duration.ofMillis(250).toNanos();

	private final String address;

	private final LockConnections connections;

	private final String prefix;

	private final RedisLockKeys keys;

	private final byte[] fenceRetention;

	private volatile RedisVote.@Nullable Run lastRun;

	private volatile @Nullable Throwable failure;

	private volatile long failedAt;

	private final long patience;

	private final AtomicInteger unanswered = new AtomicInteger();

	private final Arrivals arrivals = new Arrivals();

	private final ReleaseRepetitions repetitions;

	private volatile long waitingSince;

	private volatile boolean closed;

	/**
	 * Create a voter without connecting.
	 * @param server the configuration of its connections
	 * @param prefix the beginning of every key
	 * @param fenceRetention how long the last fencing token of an idle lock is remembered
	 * @param patience how long the server may be silent before nobody waits for it if the
	 * others can decide
	 * @throws IllegalArgumentException if the driver is not Lettuce, or there is more
	 * than one server
	 */
	public RedisVoter(RedisConnectionFactory server, String prefix, Duration fenceRetention, Duration patience) {
		this.prefix = prefix;
		this.keys = new RedisLockKeys(prefix);
		this.fenceRetention = bytes(fenceRetention.toMillis());
		this.patience = patience.toNanos();
		LockConnections connections = (server instanceof LettuceConnectionFactory lettuce && !lettuce.isClusterAware()
				&& !lettuce.isRedisSentinelAware()) ? LettuceLockConnections.derivedFrom(lettuce, MOST_UNANSWERED)
						: null;
		if (connections == null) {
			throw new IllegalArgumentException("Redlock needs a LettuceConnectionFactory for each of its servers,"
					+ " without Sentinel or Cluster, but one is " + server);
		}
		this.connections = connections;
		this.address = LockConnections.addressOf(server);
		this.repetitions = new ReleaseRepetitions(this.address, MOST_UNANSWERED);
	}

	/**
	 * Return where the server is, without secrets.
	 */
	public String address() {
		return this.address;
	}

	/**
	 * Open the first connection, which may take longer than a request.
	 */
	public CompletableFuture<?> connect() {
		return this.connections.scripts().connect();
	}

	/**
	 * Ask for the current run of the server.
	 */
	public CompletableFuture<RedisVote.Run> run() {
		return send(LockScript.REDLOCK_RUN, this::readRun, new byte[][] { bytes(this.prefix) });
	}

	@Override
	public RedisVote.@Nullable Run lastRun() {
		return this.lastRun;
	}

	@Override
	public CompletableFuture<RedisVote> acquire(LeaseRequest request, long attempt) {
		CompletableFuture<RedisVote> vote = send(LockScript.REDLOCK_ACQUIRE, this::readVote, withFence(request.key()),
				bytes(request.owner()), bytes(attempt), bytes(request.leaseTime().toMillis()), this.fenceRetention);
		this.arrivals.expect(attempt, vote);
		return vote;
	}

	/**
	 * Extend leases, and take those locks again that no owner holds on this server.
	 * @param attempt number of the attempt, and the least fencing base of such locks
	 * @return for each request, in the same order, whether the owner held the lock
	 */
	public CompletableFuture<List<Boolean>> renew(List<LeaseRequest> requests, long attempt) {
		byte[][] keys = new byte[2 * requests.size()][];
		byte[][] arguments = new byte[2 * requests.size() + 2][];
		arguments[0] = bytes(attempt);
		arguments[1] = this.fenceRetention;
		for (int i = 0; i < requests.size(); i++) {
			System.arraycopy(withFence(requests.get(i).key()), 0, keys, 2 * i, 2);
			arguments[2 * i + 2] = bytes(requests.get(i).owner());
			arguments[2 * i + 3] = bytes(requests.get(i).leaseTime().toMillis());
		}
		Function<List<Long>, List<Boolean>> reader = (held) -> held.stream().map(DONE).toList();
		return send(LockScript.REDLOCK_RENEW, reader, keys, arguments);
	}

	@Override
	public CompletableFuture<Boolean> raise(LockKey key, OwnerToken owner, long base) {
		return send(LockScript.REDLOCK_RAISE, DONE, withFence(key), bytes(owner), bytes(base), this.fenceRetention);
	}

	/**
	 * Release a lock. If that fails, it is repeated for some minutes.
	 * @return whether the owner held the lock on this server
	 */
	public CompletableFuture<Boolean> release(LockKey key, OwnerToken owner) {
		return release(key, bytes(owner), () -> true, 0);
	}

	@Override
	public CompletableFuture<Boolean> release(LockKey key, OwnerToken owner, long attempt) {
		return release(key, bytes(owner.value() + ':' + attempt + ':'), () -> this.arrivals.mayInclude(attempt), 0);
	}

	private CompletableFuture<Boolean> release(LockKey key, byte[] owner, BooleanSupplier needed, int number) {
		CompletableFuture<Boolean> released = send(LockScript.REDLOCK_RELEASE, DONE,
				new byte[][] { bytes(this.keys.lock(key)) }, owner);
		released.exceptionally((ex) -> {
			if (!this.closed && needed.getAsBoolean()) {
				this.repetitions.repeat(number, () -> release(key, owner, needed, number + 1));
			}
			return false;
		});
		return released;
	}

	/**
	 * Ask who holds a lock on this server.
	 */
	public CompletableFuture<Holding> inspect(LockKey key) {
		Function<List<Object>, Holding> reader = (answer) -> new Holding(owner(answer.get(2)), (long) answer.get(0),
				(long) answer.get(1));
		return send(LockScript.REDLOCK_INSPECT, reader, withFence(key));
	}

	private <T, R> CompletableFuture<R> send(LockScript script, Function<T, R> reader, byte[][] keys,
			byte[]... arguments) {
		Throwable failure = this.failure;
		if (failure instanceof RedisConnectionFailureException && System.nanoTime() - this.failedAt < REST) {
			return CompletableFuture.failedFuture(failure);
		}
		if (this.unanswered.getAndIncrement() == 0) {
			this.waitingSince = System.nanoTime();
		}
		CompletableFuture<R> answer = this.connections.scripts()
			.send(() -> new ScriptCall(script, keys, arguments), reader);
		answer.whenComplete((result, ex) -> note(ex));
		return answer;
	}

	@Override
	public boolean isSilent() {
		return this.unanswered.get() > 0 && System.nanoTime() - this.waitingSince > this.patience;
	}

	private void note(@Nullable Throwable failure) {
		this.unanswered.decrementAndGet();
		if (failure == null) {
			this.waitingSince = System.nanoTime();
		}
		boolean before = this.failure != null;
		this.failedAt = System.nanoTime();
		this.failure = failure;
		if (failure != null && !before && !this.closed) {
			logger.warn("Redis server " + this.address + " cannot be asked for locks, so the other servers decide: "
					+ FailureReason.of(failure));
		}
		else if (failure == null && before) {
			this.repetitions.outageOver();
			logger.info("Redis server " + this.address + " answers again");
		}
	}

	private RedisVote readVote(List<Object> answer) {
		return new RedisVote(readRun(answer), (long) answer.get(2) == 1, (long) answer.get(3), owner(answer.get(4)));
	}

	/** The name of an instance may contain a colon, but nothing behind the last dot. */
	private static OwnerToken owner(Object answer) {
		String value = text(answer);
		int addition = value.indexOf(':', value.lastIndexOf('.') + 1);
		return new OwnerToken((addition < 0) ? value : value.substring(0, addition), LockMode.EXCLUSIVE);
	}

	private RedisVote.Run readRun(List<Object> answer) {
		RedisVote.Run run = new RedisVote.Run(this.address, text(answer.get(0)), (long) answer.get(1));
		this.lastRun = run;
		return run;
	}

	private byte[][] withFence(LockKey key) {
		String lock = this.keys.lock(key);
		return new byte[][] { bytes(lock), bytes(this.keys.fence(lock)) };
	}

	private static String text(Object answer) {
		return new String((byte[]) answer, StandardCharsets.UTF_8);
	}

	private static byte[] bytes(OwnerToken owner) {
		return bytes(owner.value() + ':');
	}

	private static byte[] bytes(long number) {
		return bytes(Long.toString(number));
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * What a server knows about a lock.
	 *
	 * @param owner the owner that holds it on this server
	 * @param fencingBase its last fencing base, or 0 if none is known
	 * @param remaining the remaining milliseconds of the lease, as PTTL returns them
	 */
	public record Holding(OwnerToken owner, long fencingBase, long remaining) {

		/**
		 * Return whether nobody holds it. The value of another program may be empty.
		 */
		public boolean isFree() {
			return this.remaining == RedisInspection.FREE;
		}

	}

	/**
	 * Close the connections.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.connections.close();
	}

}
