// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.WaitingLine;

/**
 * Messages about released locks, on the one thread of the store, while this JVM stands in
 * the line of a lock. PostgreSQL sends them; where it does not, or they do not arrive,
 * this thread polls.
 */
final class ReleaseSignal implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(ReleaseSignal.class);

	private static final long END_MILLIS = 1000;

	private static final long RECOVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-signal-");

	private final AtomicBoolean started = new AtomicBoolean();

	private final LockDatabase database;

	private final JdbcLockSettings settings;

	private final SignalTimes times;

	private final JvmId jvm;

	private final WaitedLocks waited;

	private final MessagePoll poll;

	private final ArrivalTest test;

	private volatile SignalState state = SignalState.IDLE;

	private volatile boolean closed;

	private volatile WaitingLine.Listener listener = new Unheard();

	private volatile @Nullable PostgresMessages messages;

	private volatile @Nullable Thread thread;

	ReleaseSignal(LockDatabase database, JdbcLockSettings settings, SignalTimes times, JvmId jvm, WaitedLocks waited) {
		this.database = database;
		this.settings = settings;
		this.times = times;
		this.jvm = jvm;
		this.waited = waited;
		this.poll = new MessagePoll(database, jvm, waited);
		this.test = new ArrivalTest(times, settings.notifications()
				&& ClassUtils.isPresent("org.postgresql.PGConnection", ReleaseSignal.class.getClassLoader()));
		this.threads.setDaemon(true);
		waited.whenAdded(this::wake);
	}

	/**
	 * Return whether messages arrive while this JVM stands in the line of a lock.
	 */
	boolean listen(WaitingLine.Listener listener) {
		this.listener = listener;
		return this.state != SignalState.LOST && !this.closed;
	}

	/**
	 * Return whether the database sends messages, if this JVM waits for a lock.
	 */
	Optional<Boolean> isListening() {
		SignalState state = this.state;
		return (state != SignalState.IDLE) ? Optional.of(state == SignalState.NOTIFIED) : Optional.empty();
	}

	/**
	 * Return for how long a free lock must be reserved for this JVM, in microseconds.
	 */
	long pace() {
		long reaction = TimeUnit.MICROSECONDS.convert(this.times.reaction());
		return (this.state == SignalState.NOTIFIED) ? reaction
				: reaction + 2 * TimeUnit.MICROSECONDS.convert(this.settings.maxPollInterval());
	}

	SignalState state() {
		return this.state;
	}

	private void wake() {
		if (!this.closed && this.started.compareAndSet(false, true)) {
			try {
				this.threads.execute(this::run);
			}
			catch (RuntimeException | Error ex) {
				this.started.set(false);
				lost(ex);
			}
		}
		LockSupport.unpark(this.thread);
	}

	private void run() {
		this.thread = Thread.currentThread();
		try {
			while (!this.closed) {
				runOnce();
			}
		}
		finally {
			// After an error while it handled another one, the next waiter starts a
			// thread
			this.started.set(false);
		}
	}

	private void runOnce() {
		try {
			if (this.waited.isEmpty() && this.state != SignalState.LOST) {
				this.state = SignalState.IDLE;
				pause(this.times.idle().toNanos());
			}
			else if (!receive()) {
				poll();
			}
		}
		catch (SQLException | RuntimeException | Error ex) {
			lost(ex);
			pause(RECOVERY_NANOS);
		}
	}

	/**
	 * Receive messages until this JVM has waited for no lock for a while.
	 * @return {@code false} if there are no messages
	 */
	private boolean receive() throws SQLException {
		if (!this.test.isDue()) {
			return false;
		}
		try (PostgresMessages messages = PostgresMessages.open(this.database, this.jvm.get())) {
			this.messages = messages;
			boolean arrive = this.test.passes(messages, this::pollOnce);
			if (messages != null && arrive) {
				begin(SignalState.NOTIFIED);
				// Messages from before were missed
				pollOnce();
				receive(messages);
			}
			if (messages != null) {
				messages.end();
			}
			return arrive;
		}
		catch (SQLException ex) {
			if (this.test.isRefused(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private void receive(PostgresMessages messages) throws SQLException {
		long idle = this.times.idle().toNanos();
		long end = System.nanoTime() + idle;
		for (long left = idle; left > 0 && !this.closed; left = end - System.nanoTime()) {
			messages.next(left).forEach(this::received);
			if (!this.waited.isEmpty()) {
				end = System.nanoTime() + idle;
			}
		}
	}

	private void poll() {
		if (this.state == SignalState.LOST) {
			this.poll.check();
		}
		begin(SignalState.POLLING);
		long shortest = this.settings.minPollInterval().toNanos();
		long pause = shortest;
		while (!this.closed && !this.waited.isEmpty() && !this.test.isDue()) {
			pause = pollOnce() ? shortest : Math.min(pause + pause / 4, this.settings.maxPollInterval().toNanos());
			pause(pause - ThreadLocalRandom.current().nextLong(pause / 5 + 1));
		}
	}

	private boolean pollOnce() {
		List<LockKey> locks = this.poll.next();
		locks.forEach(this::released);
		return !locks.isEmpty();
	}

	/**
	 * Pass on that it is the turn of this JVM.
	 */
	void released(LockKey key) {
		this.listener.onRelease(key);
	}

	private void received(String message) {
		LockKey key = PostgresChannel.see(message, this.waited);
		if (key != null) {
			released(key);
		}
	}

	private void begin(SignalState state) {
		boolean lost = this.state == SignalState.LOST;
		this.state = state;
		if (lost) {
			// Waiters that ask by themselves may now join the line
			this.listener.onDoubt();
		}
	}

	private void lost(Throwable ex) {
		if (!this.closed && this.state != SignalState.LOST) {
			this.state = SignalState.LOST;
			logger.info("No messages about released locks, so waiters poll: " + FailureReason.of(ex));
			// Waiters ask by themselves until messages arrive again
			this.listener.onDoubt();
		}
	}

	private void pause(long nanos) {
		if (!this.closed) {
			LockSupport.parkNanos(this, nanos);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		PostgresMessages messages = this.messages;
		Thread thread = this.thread;
		LockSupport.unpark(thread);
		if (messages != null && thread != null && messages.wake()) {
			awaitEnd(thread);
		}
		if (messages != null) {
			messages.close();
		}
	}

	private static void awaitEnd(Thread thread) {
		try {
			thread.join(END_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * The listener until a registry has set its own: nobody waits yet.
	 */
	private static final class Unheard implements WaitingLine.Listener {

		@Override
		public void onRelease(LockKey key) {
		}

		@Override
		public void onDoubt() {
		}

	}

}
