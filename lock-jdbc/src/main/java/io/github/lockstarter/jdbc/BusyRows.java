// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.util.CustomizableThreadCreator;

import io.github.lockstarter.LockKey;

/**
 * Changes locks whose rows other transactions may have locked, for example one that is
 * about to commit. If the database can leave out locked rows, only one change at a time
 * waits for a row, so that the other connections are free for those that need not wait.
 */
final class BusyRows implements AutoCloseable {

	private static final long LOOK_MILLIS = 20;

	private static final long IDLE_SECONDS = 10;

	/** Each change that waits occupies a connection. */
	private final Semaphore wait = new Semaphore(1);

	private final ThreadPoolExecutor waiting = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), threads());

	private final ScheduledThreadPoolExecutor looks = new ScheduledThreadPoolExecutor(1, threads());

	private final LockDatabase database;

	private final LockRows rows;

	private final long patience;

	/**
	 * Create the rows of a database.
	 * @param rows has the connections of renewals
	 * @param patience after which time the change of a locked row fails
	 */
	BusyRows(LockDatabase database, LockRows rows, Duration patience) {
		this.database = database;
		this.rows = rows;
		this.patience = patience.toNanos();
		this.looks.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		this.looks.allowCoreThreadTimeOut(true);
	}

	private static ThreadFactory threads() {
		CustomizableThreadCreator creator = new CustomizableThreadCreator("lock-row-");
		creator.setDaemon(true);
		return creator::createThread;
	}

	/**
	 * Change a lock if it has a row, and wait for the answer, so that requests for one
	 * lock take effect in the order of their calls. Most rows are locked for less than a
	 * millisecond, so it is worth to wait at once.
	 * @param absent the result if it has none
	 */
	<T> T change(LockKey key, T absent, Function<LockState, T> transition) {
		if (this.wait.tryAcquire()) {
			try {
				return this.rows.change(key, absent, transition);
			}
			finally {
				this.wait.release();
			}
		}
		Change<T> change = new Change<>(key, absent, transition);
		changeAll(List.of(change));
		return Answer.await(change.answer);
	}

	/**
	 * Change locks without waiting for rows that are locked: their changes are answered
	 * later.
	 */
	void changeAll(List<Change<?>> changes) {
		try {
			changeLater(changeUnlocked(changes));
		}
		catch (QueryTimeoutException ex) {
			if (this.database.skipsLocked() || changes.size() == 1) {
				fail(changes, ex);
				return;
			}
			// A locked row should not keep the others from being changed
			changes.forEach((change) -> change.run(this.rows));
		}
		catch (RuntimeException | Error ex) {
			fail(changes, ex);
		}
	}

	/**
	 * Change the locks whose rows are not locked.
	 * @return the changes of the others
	 */
	private List<Change<?>> changeUnlocked(List<Change<?>> changes) {
		Map<LockKey, List<Change<?>>> locks = changes.stream().collect(Collectors.groupingBy((change) -> change.key));
		Map<LockKey, List<Runnable>> answers = this.rows.changeUnlocked(locks.keySet(), List.of(), (key,
				state) -> locks.getOrDefault(key, List.of()).stream().map((change) -> change.apply(state)).toList());
		List<Change<?>> locked = new ArrayList<>();
		locks.forEach((key, all) -> {
			List<Runnable> known = answers.get(key);
			if (known == null) {
				locked.addAll(all);
			}
			else if (known.isEmpty()) {
				all.forEach(Change::applyToNone);
			}
			else {
				known.forEach(Runnable::run);
			}
		});
		return locked;
	}

	/**
	 * Wait for a row if no other change does, and look at the other rows again soon.
	 */
	private void changeLater(List<Change<?>> locked) {
		List<Change<?>> again = new ArrayList<>();
		for (Change<?> change : locked) {
			if (this.wait.tryAcquire()) {
				waitFor(change);
			}
			else {
				again.add(change);
			}
		}
		if (!again.isEmpty()) {
			this.looks.schedule(() -> look(again), LOOK_MILLIS, TimeUnit.MILLISECONDS);
		}
	}

	private void waitFor(Change<?> change) {
		try {
			this.waiting.execute(() -> {
				try {
					change.run(this.rows);
				}
				finally {
					this.wait.release();
				}
			});
		}
		catch (RuntimeException | Error ex) {
			this.wait.release();
			fail(List.of(change), ex);
		}
	}

	private void look(List<Change<?>> changes) {
		Map<Boolean, List<Change<?>>> late = changes.stream()
			.collect(Collectors.partitioningBy((change) -> System.nanoTime() - change.since > this.patience));
		// Such a request is made again
		fail(late.getOrDefault(true, List.of()),
				new CannotAcquireLockException("A transaction has locked the row of the lock"));
		List<Change<?>> left = late.getOrDefault(false, List.of());
		if (!left.isEmpty()) {
			changeAll(left);
		}
	}

	/** Those that have an answer keep it. */
	private static void fail(List<Change<?>> changes, Throwable failure) {
		changes.forEach((change) -> change.answer.completeExceptionally(failure));
	}

	@Override
	public void close() {
		this.waiting.shutdown();
		this.looks.shutdown();
	}

	/**
	 * A change of one lock and its answer.
	 */
	static final class Change<T> {

		private final LockKey key;

		private final T absent;

		private final Function<LockState, T> transition;

		private final long since = System.nanoTime();

		private final CompletableFuture<T> answer = new CompletableFuture<>();

		/**
		 * Create a change.
		 * @param absent the result if the lock has no row
		 */
		Change(LockKey key, T absent, Function<LockState, T> transition) {
			this.key = key;
			this.absent = absent;
			this.transition = transition;
		}

		CompletableFuture<T> answer() {
			return this.answer;
		}

		/**
		 * Change the state of the lock.
		 * @return gives the answer, once the state is saved
		 */
		private Runnable apply(LockState state) {
			T result = this.transition.apply(state);
			return () -> this.answer.complete(result);
		}

		private void applyToNone() {
			this.answer.complete(this.absent);
		}

		private void run(LockRows rows) {
			try {
				this.answer.complete(rows.change(this.key, this.absent, this.transition));
			}
			catch (RuntimeException | Error ex) {
				this.answer.completeExceptionally(ex);
			}
		}

	}

}
