// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What holds for every body under a lock, whether it is a call, returns a future, or is
 * run by its caller.
 */
abstract class AbstractBodyTests {

	static final Duration PATIENCE = Duration.ofSeconds(20);

	static final Duration LEASE_TIME = Duration.ofSeconds(5);

	static final LockKey KEY = LockKey.of("stock", 1001);

	static final LockRequest REQUEST = LockRequest.of(KEY);

	static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	static final LockRequest FIXED = REQUEST.withLeaseTime(LEASE_TIME);

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	final ManualTime time = this.instances.time;

	final LockMemory memory = this.instances.memory;

	final FaultInjectingStore store = this.instances.store();

	final DefaultLockRegistry registry = this.instances.registry(this.store);

	final DefaultLockRegistry other = this.instances.registry();

	final LockTemplate template = new LockTemplate(this.registry);

	final AtomicInteger runs = new AtomicInteger();

	/**
	 * Run a body under a lock, or a handler without it, and return the result or throw
	 * the failure.
	 */
	abstract String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body,
			LockFailureHandler<String, Throwable> otherwise) throws Throwable;

	private String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body)
			throws Throwable {
		return run(template, request, body, AbstractBodyTests::unexpected);
	}

	@AfterEach
	void nothingIsLeft() {
		assertThat(Thread.interrupted()).as("interrupted").isFalse();
		assertThat(LeaseContext.all()).as("current leases").isEmpty();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(EngineProbe.activeLocks(this.registry)).as("active locks").isZero();
		assertThat(EngineProbe.backgroundActions(this.registry)).as("background actions").isZero();
		assertThat(this.memory.isEmpty()).as("nothing is locked").isTrue();
	}

	@Test
	void theBodyRunsUnderTheLockWhichIsFreeOnceItsResultIsThere() throws Throwable {
		for (OnLost onLost : OnLost.values()) {
			String result = run(this.template.withOnLost(onLost), REQUEST, (leases) -> {
				assertThat(leases.get(KEY).isHeld()).as("%s", onLost).isTrue();
				assertThat(isTaken(REQUEST)).as("%s", onLost).isTrue();
				return "result";
			});
			assertThat(result).isEqualTo("result");
			assertThat(this.memory.isEmpty()).as("%s", onLost).isTrue();
		}
	}

	@Test
	void theFailureOfTheBodyReachesItsCallerAsItIsAndTheLockIsFree() {
		for (OnLost onLost : OnLost.values()) {
			IOException expected = new IOException("of the body");
			assertThatExceptionOfType(IOException.class).as("%s", onLost)
				.isThrownBy(() -> run(this.template.withOnLost(onLost), REQUEST, (leases) -> {
					throw expected;
				}))
				.isSameAs(expected)
				.satisfies((failure) -> assertThat(failure.getSuppressed()).isEmpty());
			assertThat(this.memory.isEmpty()).as("%s", onLost).isTrue();
		}
	}

	@Test
	void onContentionItsHandlerRunsInsteadOfTheBody() throws Throwable {
		this.instances.holdElsewhere(KEY, LEASE_TIME);
		String result = run(this.template, AT_ONCE, this::countedBody, (contention) -> {
			assertThat(contention).isInstanceOf(LockContendedException.class);
			assertThat(contention.getKey()).isEqualTo(KEY);
			return "handler";
		});
		assertThat(result).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void onAnOutageItsHandlerRunsInsteadOfTheBody() throws Throwable {
		loseRequests(true);
		assertOutage("request lost");
		loseRequests(false);
		this.store.acquire.loseAnswers(() -> true);
		assertOutage("answer lost");
		this.registry.drain();
		assertOutage("shutting down");
		assertThat(this.runs).hasValue(0);
	}

	private void assertOutage(String message) throws Throwable {
		for (OnLost onLost : OnLost.values()) {
			LockTemplate template = this.template.withOnLost(onLost);
			String result = run(template, AT_ONCE, this::countedBody, (outage) -> {
				assertThat(outage).isInstanceOf(LockUnavailableException.class);
				assertThat(outage.getKey()).isEqualTo(KEY);
				assertThat(outage).hasStackTraceContaining(message);
				return "handler";
			});
			assertThat(result).as("%s, %s", message, onLost).isEqualTo("handler");
		}
	}

	@Test
	void theExceptionOfAHandlerReachesTheCallerAsItIs() {
		IOException expected = new IOException("of the handler");
		loseRequests(true);
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> run(this.template, AT_ONCE, this::countedBody, (outage) -> {
				throw expected;
			}))
			.isSameAs(expected);
		loseRequests(false);
		this.instances.holdElsewhere(KEY, LEASE_TIME);
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> run(this.template, AT_ONCE, this::countedBody, (contention) -> {
				throw expected;
			}))
			.isSameAs(expected);
		LockUnavailableException outage = new LockUnavailableException(KEY, "of the handler", null);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> run(this.template, AT_ONCE, this::countedBody, (contention) -> {
				throw outage;
			}))
			.isSameAs(outage);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void aLossIsReportedAfterTheBodyUnlessItIsOnlyLogged() throws Throwable {
		LockedBody<LeaseSet, String, Throwable> body = (leases) -> {
			this.memory.clear();
			return countedBody(leases);
		};
		for (OnLost onLost : List.of(OnLost.DEFAULT, OnLost.THROW, OnLost.INTERRUPT)) {
			assertThatExceptionOfType(LockLostException.class).as("%s", onLost)
				.isThrownBy(() -> run(this.template.withOnLost(onLost), REQUEST, body));
		}
		assertThat(run(this.template.withOnLost(OnLost.LOG), REQUEST, body)).isEqualTo("body");
		assertThat(this.runs).hasValue(4);
	}

	@Test
	void aLeaseThatRunsOutDuringTheBodyIsLost() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(this.template, FIXED, (leases) -> {
			this.time.advance(LEASE_TIME);
			assertThat(leases.isHeld()).isFalse();
			return countedBody(leases);
		}))
			.withMessageContaining("lease time of 5000 ms expired")
			.satisfies((loss) -> assertThat(loss.getKey()).isEqualTo(KEY));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void theFailureOfTheBodyIsNotHiddenByALoss() {
		IOException expected = new IOException("of the body");
		LockedBody<LeaseSet, String, Throwable> body = (leases) -> {
			this.memory.clear();
			throw expected;
		};
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> run(this.template.withOnLost(OnLost.LOG), REQUEST, body))
			.isSameAs(expected)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).isEmpty());
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> run(this.template, REQUEST, body))
			.isSameAs(expected)
			.satisfies((failure) -> assertThat(failure.getSuppressed())
				.hasExactlyElementsOfTypes(LockLostException.class));
	}

	@Test
	void noBodyBeginsAfterItsLeaseHasExpired() {
		DefaultLockRegistry slow = this.instances.registry(this.store, (event) -> {
			if (event instanceof LockEvent.Acquired) {
				this.time.advance(LEASE_TIME);
			}
		});
		// A set is acquired anew until its wait time is over
		assertThatExceptionOfType(LockException.class)
			.isThrownBy(() -> run(new LockTemplate(slow), FIXED, this::countedBody, (contention) -> {
				assertThat(contention).isInstanceOf(LockContendedException.class);
				throw contention;
			}));
		assertThat(this.runs).hasValue(0);
		assertThat(EngineProbe.activeLocks(slow)).isZero();
	}

	@Test
	void aLockIsHeldAtLeastForSomeTimeIfTheBodySucceeds() throws Throwable {
		LockRequest request = REQUEST.withHoldAtLeast(Duration.ofSeconds(30));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> run(this.template, request, (leases) -> {
			throw new IOException("of the body");
		}));
		assertThat(this.memory.isEmpty()).isTrue();
		String result = run(this.template, request, (leases) -> {
			this.time.advance(Duration.ofSeconds(10));
			return "done";
		});
		assertThat(result).isEqualTo("done");
		this.time.advance(Duration.ofSeconds(19));
		assertThat(isTaken(REQUEST)).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(isTaken(REQUEST)).isFalse();
	}

	String countedBody(LeaseSet leases) {
		this.runs.incrementAndGet();
		return "body";
	}

	static <T> T unexpected(LockException reason) {
		throw new AssertionError("It should not have run", reason);
	}

	void loseRequests(boolean lost) {
		this.store.acquire.loseRequests(() -> lost);
	}

	boolean isTaken(LockRequest request) {
		return this.other.tryAcquire(request.withWaitTime(Duration.ZERO)).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	/**
	 * Outlive the lease, and then block.
	 */
	<T> T blockAfterLoss() throws InterruptedException {
		this.time.advance(LEASE_TIME);
		assertThat(new CountDownLatch(1).await(20, TimeUnit.SECONDS)).as("interrupted").isTrue();
		throw new AssertionError();
	}

	static <T> T join(CompletableFuture<T> future) throws Throwable {
		try {
			return future.orTimeout(20, TimeUnit.SECONDS).join();
		}
		catch (CompletionException ex) {
			throw ex.getCause();
		}
	}

}
