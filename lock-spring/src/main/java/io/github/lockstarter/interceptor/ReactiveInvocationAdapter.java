// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockOutcome;
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
	public Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) {
		Flux<Object> locked = Flux.deferContextual((context) -> acquireAndRun(call, request, template, context));
		// A single value is emitted after the release
		return this.adapter.fromPublisher(this.adapter.isMultiValue() ? locked : locked.singleOrEmpty());
	}

	private Flux<Object> acquireAndRun(LockedCall call, AnyLockRequest<?> request, LockTemplate template,
			ContextView context) {
		ChainOwners owners = ChainOwners.of(request, context::getOrDefault);
		LockLostException loss = owners.loss();
		if (loss != null) {
			return Flux.error(loss);
		}
		return acquireAndRun(call, owners.requestOf(request), template, owners);
	}

	private <L extends LeaseSet> Flux<Object> acquireAndRun(LockedCall call, AnyLockRequest<L> request,
			LockTemplate template, ChainOwners owners) {
		CompletableFuture<LockOutcome<L>> acquisition = template.acquireAsync(request);
		return Mono
			.<LockOutcome<L>>create((sink) -> acquisition.thenAcceptAsync(sink::success, acquisition.defaultExecutor()))
			.flatMapMany((outcome) -> runAndEnd(call.copy(), outcome, owners))
			.doFinally((signal) -> abandon(signal, acquisition))
			.contextWrite((outer) -> outer.putAllMap(owners.byLock()));
	}

	private Flux<Object> runAndEnd(LockedCall call, LockOutcome<?> outcome, ChainOwners owners) {
		Flux<Object> work = Flux.defer(() -> run(call, outcome, owners)).takeUntilOther(loss(outcome));
		return Flux.concat(work.onErrorResume((failure) -> end(outcome, failure)), end(outcome, null));
	}

	private Publisher<Object> run(LockedCall call, LockOutcome<?> outcome, ChainOwners owners) {
		try {
			Object result = outcome.<@Nullable Object, Throwable>fold((lease) -> {
				owners.runUnder(lease);
				return call.proceed(lease);
			}, call::contended, call::unavailable);
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

}
