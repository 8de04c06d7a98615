// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockOutcome;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;

/**
 * For methods that return a publisher: each subscription acquires the lock and calls the
 * method. The only class that needs Reactor.
 */
final class ReactiveInvocationAdapter implements InvocationAdapter {

	private final ReactiveAdapter adapter;

	ReactiveInvocationAdapter(ReactiveAdapter adapter) {
		this.adapter = adapter;
	}

	/**
	 * Return whether the current thread must not block, such as that of an event loop.
	 */
	static boolean mustNotBlock() {
		return Schedulers.isInNonBlockingThread();
	}

	@Override
	public <L extends LeaseSet> Object invoke(LockOperation.Call call, AnyLockRequest<L> request,
			LockTemplate template) {
		Flux<Object> locked = Flux.deferContextual((context) -> acquireAndRun(call, request, template, context));
		// A single value is emitted after the release
		return this.adapter.fromPublisher(this.adapter.isMultiValue() ? locked : locked.singleOrEmpty());
	}

	private <L extends LeaseSet> Flux<Object> acquireAndRun(LockOperation.Call call, AnyLockRequest<L> request,
			LockTemplate template, ContextView context) {
		Owners owners = Owners.of(request, context::getOrDefault);
		LockLostException loss = owners.loss();
		if (loss != null) {
			return Flux.error(loss);
		}
		CompletableFuture<LockOutcome<L>> acquisition = template.acquireAsync(owners.own(request));
		return Mono
			.<LockOutcome<L>>create((sink) -> acquisition.thenAcceptAsync(sink::success, acquisition.defaultExecutor()))
			.flatMapMany((outcome) -> runAndEnd(call.copy(), outcome, owners))
			.doFinally((signal) -> abandon(signal, acquisition))
			.contextWrite((outer) -> outer.putAllMap(owners.byLock()));
	}

	private Flux<Object> runAndEnd(LockOperation.Call call, LockOutcome<?> outcome, Owners owners) {
		Flux<Object> work = Flux.defer(() -> run(call, outcome, owners)).takeUntilOther(loss(outcome));
		return Flux.concat(work.onErrorResume((failure) -> end(outcome, failure)), end(outcome, null));
	}

	private Publisher<Object> run(LockOperation.Call call, LockOutcome<?> outcome, Owners owners) {
		try {
			Object result = outcome.<@Nullable Object, Throwable>fold((lease) -> {
				owners.runUnder(lease);
				return call.proceed(lease);
			}, call::otherwise);
			return this.adapter.toPublisher(result);
		}
		catch (Throwable ex) {
			// Reactor does not propagate errors that it regards as fatal to the JVM
			return Mono.error((ex instanceof LinkageError) ? new IllegalStateException(ex.toString(), ex) : ex);
		}
	}

	/**
	 * On another thread, because a cancellation may take time and callbacks must be
	 * short.
	 */
	private static Mono<Object> loss(LockOutcome<?> outcome) {
		return Mono
			.create((sink) -> outcome.onLoss(() -> Schedulers.boundedElastic().schedule(() -> sink.success(outcome))));
	}

	private static Mono<Object> end(LockOutcome<?> outcome, @Nullable Throwable failure) {
		return Mono.fromFuture(() -> outcome.end(failure), true).cast(Object.class);
	}

	/**
	 * Withdraw the waiter, or release the lock, after the subscription was cancelled.
	 */
	private static void abandon(SignalType signal, CompletableFuture<? extends LockOutcome<?>> acquisition) {
		if (signal == SignalType.CANCEL && !acquisition.cancel(false)) {
			acquisition.thenAccept((outcome) -> outcome.end(new CancellationException()));
		}
	}

	/**
	 * The owners of the locks that a part of a reactive chain requests, found in the
	 * context of the chain. Nested parts share an owner, so a nested acquisition is
	 * reentrant. Concurrent branches have different owners, so they exclude each other.
	 *
	 * @param byLock the owner of each lock
	 */
	private record Owners(Map<OwnerKey, Owner> byLock) {

		/**
		 * Return the owners of the locks of a request.
		 * @param context returns the value of a key in the context of the chain, or the
		 * given default
		 */
		static Owners of(AnyLockRequest<?> request, BiFunction<OwnerKey, Owner, Owner> context) {
			Owner part = new Owner();
			Map<OwnerKey, Owner> byLock = new HashMap<>();
			for (LockRequest each : requests(request)) {
				OwnerKey key = new OwnerKey(each.key());
				byLock.put(key, context.apply(key, part));
			}
			return new Owners(byLock);
		}

		private static List<LockRequest> requests(AnyLockRequest<?> request) {
			return (request instanceof LockSetRequest set) ? set.requests() : List.of((LockRequest) request);
		}

		/**
		 * Return a request on behalf of these owners.
		 */
		@SuppressWarnings("unchecked")
		<L extends LeaseSet> AnyLockRequest<L> own(AnyLockRequest<L> request) {
			List<LockRequest> owned = requests(request).stream()
				.map((each) -> each.withOwner(Objects.requireNonNull(this.byLock.get(new OwnerKey(each.key())))))
				.toList();
			return (AnyLockRequest<L>) ((request instanceof LockSetRequest set)
					? new LockSetRequest(owned, set.waitTime()) : owned.get(0));
		}

		/**
		 * Return the loss of a lock that the chain still runs under, or {@code null}. A
		 * lost lock must not be acquired again before that part of the chain has ended.
		 */
		@Nullable LockLostException loss() {
			for (Map.Entry<OwnerKey, Owner> each : this.byLock.entrySet()) {
				LockLostException loss = each.getValue().lossOf(each.getKey().lock());
				if (loss != null) {
					return loss;
				}
			}
			return null;
		}

		/**
		 * Record the lease of this part, unless an outer part of the chain holds one.
		 */
		void runUnder(LeaseSet lease) {
			this.byLock.values().forEach((owner) -> owner.runUnder(lease));
		}

	}

	/**
	 * The key of a lock's owner in the context of a chain.
	 *
	 * @param lock the lock
	 */
	private record OwnerKey(LockKey lock) {
	}

	/**
	 * A part of a chain that owns locks.
	 */
	private static final class Owner {

		private volatile @Nullable LeaseSet lease;

		void runUnder(LeaseSet lease) {
			if (this.lease == null) {
				this.lease = lease;
			}
		}

		@Nullable LockLostException lossOf(LockKey lock) {
			LeaseSet lease = this.lease;
			if (lease == null) {
				return null;
			}
			try {
				lease.all().stream().filter((each) -> each.key().equals(lock)).forEach(Lease::ensureHeld);
				return null;
			}
			catch (LockLostException ex) {
				return ex;
			}
			catch (IllegalStateException ex) {
				// The body has closed its own lease
				return null;
			}
		}

	}

}
