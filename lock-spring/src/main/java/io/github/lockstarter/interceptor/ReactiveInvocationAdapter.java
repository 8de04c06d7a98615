// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
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
	public Object invoke(LockOperation.Call call, LockOperation.Locks locks, LockTemplate template) {
		Flux<Object> locked = Flux.deferContextual((context) -> {
			Owners owners = Owners.of(call.registry(), locks, context::getOrDefault);
			LockLostException loss = owners.loss();
			return (loss != null) ? Flux.error(loss) : new Run(call.copy(), owners, locks, template).locked();
		});
		// A single value is emitted after the release
		return this.adapter.fromPublisher(this.adapter.isMultiValue() ? locked : locked.singleOrEmpty());
	}

	/**
	 * The call for one subscription. For the template it is a body with a future, which
	 * is done when the publisher of the method has ended.
	 */
	private final class Run {

		private final LockOperation.Call call;

		private final Owners owners;

		private final LockOperation.Locks locks;

		private final LockTemplate template;

		private final Work work = new Work();

		private volatile boolean begun;

		/** Guarded by this, as the body may begin before its future is returned. */
		private @Nullable CompletableFuture<Void> released;

		Run(LockOperation.Call call, Owners owners, LockOperation.Locks locks, LockTemplate template) {
			this.call = call;
			this.owners = owners;
			this.locks = locks;
			this.template = template;
		}

		Flux<Object> locked() {
			return Mono.create(this::acquire)
				.flatMapMany(this::run)
				.doFinally((signal) -> abandon(signal))
				.contextWrite((outer) -> outer.putAllMap(this.owners.byLock()));
		}

		private synchronized void acquire(MonoSink<Step> sink) {
			CompletableFuture<Void> released = this.owners.own(this.locks).executeAsync(this.template, (lease) -> {
				this.owners.runUnder(lease);
				return begin(this.call::proceed, sink);
			}, (failure) -> begin(() -> this.call.otherwise(failure), sink));
			released.whenComplete((nothing, ex) -> {
				if (ex != null && !this.begun && !this.work.isDone()) {
					sink.error(ex);
				}
			});
			this.released = released;
		}

		/**
		 * Call the method on the thread of the body, where its lease is the current one,
		 * but in the context of the chain.
		 */
		private Work begin(Step step, MonoSink<Step> sink) {
			this.begun = true;
			sink.success(step);
			return this.work;
		}

		private Flux<Object> run(Step step) {
			CompletableFuture<Void> released = released();
			// Subscribed when the method has returned, so that a loss can cancel it
			Flux<Object> chain = Flux.from(publisher(step))
				.subscribeOn(Schedulers.fromExecutor(released.defaultExecutor()), false)
				.takeUntilOther(this.work.cancelled.asMono());
			return Flux.concat(chain.onErrorResume((failure) -> end(failure, released)), end(null, released));
		}

		private Publisher<Object> publisher(Step step) {
			try {
				return ReactiveInvocationAdapter.this.adapter.toPublisher(step.run());
			}
			catch (Throwable ex) {
				// Reactor does not propagate errors that it regards as fatal to the JVM
				return Mono.error((ex instanceof LinkageError) ? new IllegalStateException(ex.toString(), ex) : ex);
			}
		}

		private Mono<Object> end(@Nullable Throwable failure, CompletableFuture<Void> released) {
			return Mono.fromFuture(() -> {
				this.work.end(failure);
				return released;
			}, true).cast(Object.class);
		}

		/**
		 * Withdraw the waiter, or release the lock, after the subscription was cancelled.
		 */
		private void abandon(SignalType signal) {
			if (signal == SignalType.CANCEL) {
				this.work.end(new CancellationException());
				released().cancel(false);
			}
		}

		private synchronized CompletableFuture<Void> released() {
			return (this.released != null) ? this.released : this.work;
		}

	}

	/**
	 * The method, or what is called instead.
	 */
	private interface Step {

		@Nullable Object run() throws Throwable;

	}

	/**
	 * The future of a body: the work of a publisher. To cancel it because of a loss ends
	 * the publisher, and only the end of the publisher ends the work.
	 */
	private static final class Work extends CompletableFuture<Void> {

		private final Sinks.Empty<Object> cancelled = Sinks.empty();

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.cancelled.tryEmitEmpty();
			return false;
		}

		void end(@Nullable Throwable failure) {
			if (failure != null) {
				completeExceptionally(failure);
			}
			else {
				complete(null);
			}
		}

	}

	/**
	 * The owners of the locks that a part of a reactive chain requests, found in the
	 * context of the chain. Nested parts share an owner, so a nested acquisition is
	 * reentrant. Concurrent branches have different owners, so they exclude each other.
	 *
	 * @param registry the registry of the locks
	 * @param byLock the owner of each lock
	 */
	private record Owners(LockRegistry registry, Map<OwnerKey, Owner> byLock) {

		/**
		 * Return the owners of the locks of a call.
		 * @param registry the registry of the locks
		 * @param context returns the value of a key in the context of the chain, or the
		 * given default
		 */
		static Owners of(LockRegistry registry, LockOperation.Locks locks, BiFunction<OwnerKey, Owner, Owner> context) {
			Owner part = new Owner();
			Map<OwnerKey, Owner> byLock = new HashMap<>();
			for (LockRequest each : locks.requests()) {
				OwnerKey key = new OwnerKey(registry, each.key());
				byLock.put(key, context.apply(key, part));
			}
			return new Owners(registry, byLock);
		}

		/**
		 * Return the locks on behalf of these owners.
		 */
		LockOperation.Locks own(LockOperation.Locks locks) {
			return new LockOperation.Locks(locks.requests()
				.stream()
				.map((each) -> each
					.withOwner(Objects.requireNonNull(this.byLock.get(new OwnerKey(this.registry, each.key())))))
				.toList(), locks.several());
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
	 * @param registry its registry: that of another one is a different lock
	 * @param lock the lock
	 */
	private record OwnerKey(LockRegistry registry, LockKey lock) {
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

		@Override
		public String toString() {
			return "a reactive chain";
		}

	}

}
