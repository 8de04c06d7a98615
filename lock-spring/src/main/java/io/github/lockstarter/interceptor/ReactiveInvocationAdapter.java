// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnLost;

/**
 * For methods that return a publisher: each subscription takes the lock and calls the
 * method. The only class that needs Reactor.
 */
final class ReactiveInvocationAdapter implements InvocationAdapter {

	private final ReactiveAdapter adapter;

	ReactiveInvocationAdapter(ReactiveAdapter adapter) {
		this.adapter = adapter;
	}

	@Override
	public Object invoke(LockedCall call) {
		return this.adapter.fromPublisher(this.adapter.isMultiValue() ? flux(call) : mono(call));
	}

	private Mono<Object> mono(LockedCall call) {
		return Mono.deferContextual((context) -> {
			Map<Enclosing, Work> owners = owners(call, context);
			CompletableFuture<? extends LeaseSet> acquisition = acquire(call, owners);
			AtomicBoolean decided = new AtomicBoolean();
			return Mono.<Mono<Object>>create((sink) -> acquisition.whenCompleteAsync((lease, ex) -> {
				if (lease == null) {
					sink.success(Mono.from(instead(call, ex)));
					return;
				}
				Mono<Object> body = Mono.defer(() -> Mono.from(begin(call, lease, decided)));
				Mono<Object> guarded = isEndedByLoss(call) ? body.takeUntilOther(loss(lease)) : body;
				sink.success(guarded.onErrorResume((failure) -> fail(call, lease, failure))
					.flatMap((value) -> end(call, lease).thenReturn(value))
					.switchIfEmpty(end(call, lease)));
			}, acquisition.defaultExecutor()))
				.flatMap((result) -> result)
				.doFinally((signal) -> abandon(signal, call, acquisition, decided))
				.contextWrite((outer) -> outer.putAllMap(owners));
		});
	}

	private Flux<Object> flux(LockedCall call) {
		return Flux.deferContextual((context) -> {
			Map<Enclosing, Work> owners = owners(call, context);
			CompletableFuture<? extends LeaseSet> acquisition = acquire(call, owners);
			AtomicBoolean decided = new AtomicBoolean();
			return Mono.<Flux<Object>>create((sink) -> acquisition.whenCompleteAsync((lease, ex) -> {
				if (lease == null) {
					sink.success(Flux.from(instead(call, ex)));
					return;
				}
				Flux<Object> body = Flux.defer(() -> begin(call, lease, decided));
				Flux<Object> guarded = isEndedByLoss(call) ? body.takeUntilOther(loss(lease)) : body;
				sink.success(
						Flux.concat(guarded.onErrorResume((failure) -> fail(call, lease, failure)), end(call, lease)));
			}, acquisition.defaultExecutor()))
				.flatMapMany((result) -> result)
				.doFinally((signal) -> abandon(signal, call, acquisition, decided))
				.contextWrite((outer) -> outer.putAllMap(owners));
		});
	}

	private static Map<Enclosing, Work> owners(LockedCall call, ContextView context) {
		Work owner = new Work();
		Map<Enclosing, Work> owners = new HashMap<>();
		for (LockRequest each : requests(call)) {
			Enclosing enclosing = new Enclosing(each.key());
			owners.put(enclosing, context.getOrDefault(enclosing, owner));
		}
		return owners;
	}

	private static CompletableFuture<? extends LeaseSet> acquire(LockedCall call, Map<Enclosing, Work> owners) {
		for (Map.Entry<Enclosing, Work> each : owners.entrySet()) {
			LockLostException loss = each.getValue().lossOf(each.getKey().key());
			if (loss != null) {
				return CompletableFuture.failedFuture(loss);
			}
		}
		List<LockRequest> requests = requests(call).stream()
			.map((each) -> each.withOwner(Objects.requireNonNull(owners.get(new Enclosing(each.key())))))
			.toList();
		CompletableFuture<? extends LeaseSet> acquisition = (call.request() instanceof LockSetRequest set)
				? call.registry().acquireAllAsync(new LockSetRequest(requests, set.waitTime()))
				: call.registry().acquireAsync(requests.get(0));
		acquisition.thenAccept((lease) -> owners.values().forEach((owner) -> owner.runUnder(lease)));
		return acquisition;
	}

	private static List<LockRequest> requests(LockedCall call) {
		return (call.request() instanceof LockSetRequest set) ? set.requests() : List.of((LockRequest) call.request());
	}

	/**
	 * Call the method, unless the subscription was cancelled before and its lock given
	 * back.
	 */
	private Publisher<Object> begin(LockedCall call, LeaseSet lease, AtomicBoolean decided) {
		if (!decided.compareAndSet(false, true)) {
			return Mono.error(new CancellationException());
		}
		try {
			return this.adapter.toPublisher(call.proceed(lease));
		}
		catch (Throwable ex) {
			return Mono.error(signal(ex));
		}
	}

	/** Reactor passes on no error that it takes for the end of the JVM. */
	private static Throwable signal(Throwable failure) {
		return (failure instanceof LinkageError) ? new IllegalStateException(failure.toString(), failure) : failure;
	}

	private Publisher<Object> instead(LockedCall call, Throwable reason) {
		try {
			if (reason instanceof LockContendedException contention) {
				return this.adapter.toPublisher(call.contended(contention));
			}
			if (reason instanceof LockUnavailableException outage) {
				return this.adapter.toPublisher(call.unavailable(outage));
			}
			return Mono.error(reason);
		}
		catch (Throwable ex) {
			return Mono.error(signal(ex));
		}
	}

	private static boolean isEndedByLoss(LockedCall call) {
		return call.definition().onLost() == OnLost.INTERRUPT;
	}

	/** What depends on it may take its time, which callbacks must not. */
	private static Mono<LockLostException> loss(LeaseSet lease) {
		return Mono.<LockLostException>create((sink) -> lease.onLost(sink::success))
			.publishOn(Schedulers.boundedElastic());
	}

	private static Mono<Object> end(LockedCall call, LeaseSet lease) {
		return Mono.defer(() -> {
			keep(call, lease, true);
			return close(lease).onErrorResume(LockLostException.class,
					(loss) -> (call.definition().onLost() == OnLost.LOG) ? Mono.empty() : Mono.error(loss));
		});
	}

	private static Mono<Object> fail(LockedCall call, LeaseSet lease, Throwable failure) {
		return Mono.defer(() -> {
			keep(call, lease, false);
			return close(lease).onErrorResume(LockLostException.class, (loss) -> {
				if (call.definition().onLost() != OnLost.LOG && !(failure instanceof LockLostException)) {
					failure.addSuppressed(loss);
				}
				return Mono.empty();
			}).then(Mono.error(failure));
		});
	}

	/** As {@link LockTemplate} does with bodies that it runs itself. */
	private static void keep(LockedCall call, LeaseSet lease, boolean successful) {
		for (LockRequest each : requests(call)) {
			Duration time = each.holdAtLeast();
			if (time != null) {
				lease.get(each.key()).holdAtLeast(successful ? time : Duration.ZERO);
			}
		}
	}

	private static Mono<Object> close(LeaseSet lease) {
		return Mono.fromFuture(lease::closeAsync, true).cast(Object.class);
	}

	/**
	 * End the wait, or give the lock back, after the subscription was cancelled.
	 */
	private static void abandon(SignalType signal, LockedCall call, CompletableFuture<? extends LeaseSet> acquisition,
			AtomicBoolean decided) {
		if (signal != SignalType.CANCEL) {
			return;
		}
		decided.set(true);
		if (!acquisition.cancel(false)) {
			acquisition.thenAccept((lease) -> {
				keep(call, lease, false);
				lease.closeAsync();
			});
		}
	}

	/**
	 * Where a chain keeps by what it is known as the owner of a lock that it is inside
	 * of. A lock that it asks for in two branches at the same time has two owners.
	 *
	 * @param key which lock
	 */
	private record Enclosing(LockKey key) {
	}

	/**
	 * The part of a chain that owns a lock. While it runs it takes no lock anew that it
	 * has lost.
	 */
	private static final class Work {

		private volatile @Nullable LeaseSet lease;

		void runUnder(LeaseSet lease) {
			if (this.lease == null) {
				this.lease = lease;
			}
		}

		@Nullable LockLostException lossOf(LockKey key) {
			LeaseSet lease = this.lease;
			if (lease == null) {
				return null;
			}
			try {
				lease.all().stream().filter((each) -> each.key().equals(key)).forEach(Lease::ensureHeld);
				return null;
			}
			catch (LockLostException ex) {
				return ex;
			}
			catch (IllegalStateException ex) {
				// Closed before the end of what runs under it
				return null;
			}
		}

	}

}
