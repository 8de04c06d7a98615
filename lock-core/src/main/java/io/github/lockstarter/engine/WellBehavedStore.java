// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.WaitingLine;

/**
 * A store whose requests fail as {@link LockStore} requires, even if those of the
 * original store throw or give no answer: a transition that waits for an answer would
 * block its lock for ever. What the store can do is asked once, before there is any lock.
 * The answer to an acquisition, a renewal or a release may still be {@code null}, because
 * to check it here would cost a further stage for each lock.
 */
final class WellBehavedStore implements LockStore {

	private static final Log logger = LogFactory.getLog(WellBehavedStore.class);

	private final LockStore delegate;

	private final boolean mayBlock;

	private final Optional<LockKeeping> keeping;

	private final Optional<GroupGrant> groupGrant;

	private final WaitingLine waitingLine;

	private volatile @Nullable CompletableFuture<?> connection;

	WellBehavedStore(LockStore delegate) {
		this.delegate = delegate;
		this.mayBlock = delegate.mayBlock();
		this.keeping = delegate.keeping().map(WellBehavedStore::keeping);
		this.groupGrant = delegate.groupGrant().map(WellBehavedGroupGrant::new);
		this.waitingLine = new WellBehavedLine(delegate.waitingLine());
	}

	@Override
	public String name() {
		return this.delegate.name();
	}

	@Override
	public String address() {
		try {
			return Objects.requireNonNull(this.delegate.address());
		}
		catch (Throwable ex) {
			logger.debug("The address of the store is not known", ex);
			return "";
		}
	}

	@Override
	public Set<LockMode> modes() {
		return this.delegate.modes();
	}

	@Override
	public void setInstance(String name) {
		this.delegate.setInstance(name);
	}

	@Override
	public CompletableFuture<?> connect() {
		CompletableFuture<?> connection = this.connection;
		return (connection != null) ? connection : connectOnce();
	}

	private synchronized CompletableFuture<?> connectOnce() {
		CompletableFuture<?> connection = this.connection;
		if (connection == null) {
			connection = stage(() -> this.delegate.connect());
			this.connection = connection;
		}
		return connection;
	}

	@Override
	public CompletionStage<LockAttempt> acquire(LeaseRequest request, boolean wait) {
		return stage(() -> this.delegate.acquire(request, wait));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		try {
			List<CompletionStage<Boolean>> answers = this.delegate.renew(requests);
			if (answers != null && answers.size() == requests.size() && answers.stream().allMatch(Objects::nonNull)) {
				return answers;
			}
			throw noAnswer();
		}
		catch (Throwable ex) {
			return Collections.nCopies(requests.size(), CompletableFuture.failedFuture(ex));
		}
	}

	@Override
	public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return stage(() -> this.delegate.release(key, owner, next));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.keeping;
	}

	@Override
	public Optional<LockInspection> inspection() {
		return this.delegate.inspection();
	}

	@Override
	public Optional<GroupGrant> groupGrant() {
		return this.groupGrant;
	}

	@Override
	public void onInterruption(Runnable task) {
		this.delegate.onInterruption(task);
	}

	@Override
	public WaitingLine waitingLine() {
		return this.waitingLine;
	}

	@Override
	public Duration longestLease() {
		try {
			return Objects.requireNonNull(this.delegate.longestLease());
		}
		catch (Throwable ex) {
			logger.debug("A grant of unknown length does not count", ex);
			return Duration.ZERO;
		}
	}

	@Override
	public boolean mayBlock() {
		return this.mayBlock;
	}

	private static LockKeeping keeping(LockKeeping delegate) {
		return (key, owner, time) -> answer(() -> delegate.keep(key, owner, time), Objects::nonNull);
	}

	/**
	 * Return the stage of a request, or a failed one if there is none.
	 */
	static <T> CompletableFuture<T> stage(Supplier<? extends CompletionStage<T>> request) {
		try {
			CompletionStage<T> stage = request.get();
			return (stage != null) ? stage.toCompletableFuture() : CompletableFuture.failedFuture(noAnswer());
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private static <T> CompletableFuture<T> answer(Supplier<CompletionStage<T>> request,
			Predicate<@Nullable T> complete) {
		CompletableFuture<T> stage = stage(request);
		boolean known = stage.isDone() && (stage.isCompletedExceptionally() || complete.test(stage.join()));
		return known ? stage : stage.thenApply((answer) -> {
			if (!complete.test(answer)) {
				throw noAnswer();
			}
			return answer;
		});
	}

	static IllegalStateException noAnswer() {
		return new IllegalStateException("The store has given no answer");
	}

	private record WellBehavedGroupGrant(GroupGrant delegate) implements GroupGrant {

		@Override
		public boolean isPossibleFor(Collection<LockKey> keys) {
			try {
				return this.delegate.isPossibleFor(keys);
			}
			catch (Throwable ex) {
				logger.debug("Locks are acquired one by one", ex);
				return false;
			}
		}

		@Override
		public CompletionStage<List<LockAttempt.Grant>> acquire(List<LeaseRequest> requests) {
			return answer(() -> this.delegate.acquire(requests),
					(grants) -> grants != null && (grants.isEmpty() || grants.size() == requests.size())
							&& grants.stream().allMatch(Objects::nonNull));
		}

	}

}
