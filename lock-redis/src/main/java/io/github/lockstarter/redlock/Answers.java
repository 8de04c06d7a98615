// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The answers of independent servers to one request.
 *
 * @param servers how many servers were asked
 * @param answers the answers so far
 * @param failures why other servers have given none
 */
record Answers<T>(int servers, List<T> answers, List<Throwable> failures) {

	/**
	 * Ask all servers at the same time. An answer of a silent server counts if it comes,
	 * also because this JVM may be the one that has paused, but nobody waits for it when
	 * a majority has answered.
	 * @param enough whether further answers would change nothing
	 * @param limit how long to wait for answers
	 * @return the answers in time; never fails
	 */
	static <V extends Voter, T> CompletableFuture<Answers<T>> of(List<V> servers,
			Function<V, CompletableFuture<T>> request, Predicate<Answers<T>> enough, Duration limit) {
		AtomicReference<Answers<T>> known = new AtomicReference<>(new Answers<>(servers.size(), List.of(), List.of()));
		Set<V> waiting = ConcurrentHashMap.newKeySet();
		waiting.addAll(servers);
		CompletableFuture<Void> end = new CompletableFuture<>();
		List<CompletableFuture<T>> requests = servers.stream().map(request).toList();
		for (int i = 0; i < servers.size(); i++) {
			V server = servers.get(i);
			requests.get(i).whenComplete((answer, failure) -> {
				known.updateAndGet((before) -> before.with(answer, failure));
				waiting.remove(server);
				// Whatever no longer waits is known by now
				boolean awaited = !waiting.stream().allMatch(Voter::isSilent);
				Answers<T> answers = known.get();
				if (answers.missing() == 0 || enough.test(answers)
						|| (!awaited && answers.answers().size() >= answers.majority())) {
					end.complete(null);
				}
			});
		}
		return end.completeOnTimeout(null, limit.toNanos(), TimeUnit.NANOSECONDS).thenApply((over) -> known.get());
	}

	/**
	 * Return whether a majority has given the same answer.
	 */
	static boolean isClear(Answers<Boolean> answers) {
		return answers.isMajority((each) -> each) || answers.isMajority((each) -> !each);
	}

	private Answers<T> with(T answer, @Nullable Throwable failure) {
		return (failure != null) ? new Answers<>(this.servers, this.answers, added(this.failures, failure))
				: new Answers<>(this.servers, added(this.answers, answer), this.failures);
	}

	private static <E> List<E> added(List<E> elements, E element) {
		return Stream.concat(elements.stream(), Stream.of(element)).toList();
	}

	<R> Answers<R> map(Function<T, R> part) {
		return new Answers<>(this.servers, this.answers.stream().map(part).toList(), this.failures);
	}

	int majority() {
		return this.servers / 2 + 1;
	}

	int missing() {
		return this.servers - this.answers.size() - this.failures.size();
	}

	int count(Predicate<T> condition) {
		return (int) this.answers.stream().filter(condition).count();
	}

	boolean isMajority(Predicate<T> condition) {
		return count(condition) >= majority();
	}

	/**
	 * Return the failure of a request that too few servers have answered. It has no
	 * cause, because callers are told the innermost one, which is that of one server.
	 * @param counted how many answers count
	 * @param done what these servers have done
	 */
	RuntimeException tooFew(int counted, String done) {
		List<UnusableStoreException> unusable = this.failures.stream()
			.filter(UnusableStoreException.class::isInstance)
			.map(UnusableStoreException.class::cast)
			.toList();
		if (this.servers - unusable.size() < majority()) {
			return unusable.get(0);
		}
		String reasons = this.failures.stream().map(FailureReason::of).distinct().collect(Collectors.joining("; "));
		return new IllegalStateException("A majority of the " + this.servers + " Redis servers is needed, but only "
				+ counted + ' ' + done + (reasons.isEmpty() ? "" : " (" + reasons + ")"));
	}

}
