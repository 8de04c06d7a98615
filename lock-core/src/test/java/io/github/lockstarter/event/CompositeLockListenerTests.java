// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.Cases;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

class CompositeLockListenerTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest AT_ONCE = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	private static final LockEvent EVENT = new LockEvent.Acquired(KEY, LockMode.EXCLUSIVE, "memory", 1, Duration.ZERO);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final LockMemory memory = this.instances.memory;

	private final List<LockEvent> before = new CopyOnWriteArrayList<>();

	private final List<LockEvent> after = new CopyOnWriteArrayList<>();

	@Test
	void listenersAreNotifiedInTheirOrder() {
		List<String> notified = new ArrayList<>();
		new CompositeLockListener(List.of((event) -> notified.add("first"), (event) -> notified.add("second")))
			.onEvent(EVENT);
		assertThat(notified).containsExactly("first", "second");
	}

	@Test
	void noListenerIsFine() {
		assertThatCode(() -> new CompositeLockListener(List.of()).onEvent(EVENT)).doesNotThrowAnyException();
	}

	@Test
	void laterChangesOfTheListDoNotMatter() {
		List<LockListener> listeners = new ArrayList<>(List.of(this.before::add));
		CompositeLockListener composite = new CompositeLockListener(listeners);
		listeners.clear();
		composite.onEvent(EVENT);
		assertThat(this.before).containsExactly(EVENT);
	}

	@Test
	void aBrokenListenerKeepsNothingFromTheOthers() {
		eachBrokenListener((broken) -> {
			around(broken).onEvent(EVENT);
			assertThat(this.before).containsExactly(EVENT);
			assertThat(this.after).containsExactly(EVENT);
		});
	}

	@Test
	void aBrokenListenerCostsNoLock() {
		eachBrokenListener((broken) -> {
			for (LockListener listener : List.of(broken, around(broken))) {
				try (Lease lease = registry(listener).acquire(AT_ONCE)) {
					assertThat(lease.isHeld()).isTrue();
				}
				assertThat(this.memory.isEmpty()).isTrue();
			}
			assertThat(this.after).hasSize(2).isEqualTo(this.before);
		});
	}

	@Test
	void aBrokenListenerDoesNotHideARefusal() {
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		eachBrokenListener((broken) -> {
			assertThat(registry(around(broken)).tryAcquire(AT_ONCE)).isEmpty();
			assertThat(this.after).singleElement().isInstanceOf(LockEvent.Contended.class);
		});
	}

	@Test
	void aBrokenListenerKeepsNoOwnerFromHearingOfALoss() {
		eachBrokenListener((broken) -> {
			List<String> losses = new CopyOnWriteArrayList<>();
			Lease lease = registry(around(broken)).acquire(AT_ONCE.withLeaseTime(Duration.ofSeconds(5)));
			lease.onLost((loss) -> losses.add(loss.getMessage()));
			this.instances.time.advance(Duration.ofSeconds(5));
			assertThat(losses).hasSize(1);
			assertThat(this.after).last().isInstanceOf(LockEvent.Lost.class);
			assertThatCode(lease::close).hasMessage(losses.get(0));
		});
	}

	private void eachBrokenListener(Cases.OfOne<LockListener> check) {
		Cases.each(brokenListeners(), (broken) -> {
			this.before.clear();
			this.after.clear();
			check.check(broken);
		});
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void aBrokenListenerLogsOneStackTrace(CapturedLog log) {
		CompositeLockListener composite = around(new BrokenListener(new IllegalStateException("expected by the test")));
		for (int i = 0; i < 3; i++) {
			composite.onEvent(EVENT);
		}
		assertThat(log.toString()).containsOnlyOnce("BrokenListener failed on Acquired[key=stock:1001");
	}

	private static List<LockListener> brokenListeners() {
		return List.of(new BrokenListener(new IllegalStateException("expected by the test")),
				new BrokenListener(new NoClassDefFoundError("expected by the test")),
				new BrokenListener(new AssertionError("expected by the test")),
				new BrokenListener(new StackOverflowError("expected by the test")), new OutOfScopeListener());
	}

	private CompositeLockListener around(LockListener broken) {
		return new CompositeLockListener(List.of(this.before::add, broken, this.after::add));
	}

	private DefaultLockRegistry registry(LockListener listener) {
		return this.instances.registry(this.instances.store(), listener);
	}

	private record BrokenListener(Throwable failure) implements LockListener {

		@Override
		public void onEvent(LockEvent event) {
			CompositeLockListenerTests.<RuntimeException>rethrow(this.failure);
		}

	}

	/**
	 * Like the proxy of a bean whose scope is not active on the thread: even its
	 * {@code toString()} fails.
	 */
	private static final class OutOfScopeListener implements LockListener {

		@Override
		public void onEvent(LockEvent event) {
			throw new IllegalStateException("expected by the test");
		}

		@Override
		public String toString() {
			throw new IllegalStateException("expected by the test");
		}

	}

	@SuppressWarnings("unchecked")
	private static <X extends Throwable> void rethrow(Throwable failure) throws X {
		throw (X) failure;
	}

}
