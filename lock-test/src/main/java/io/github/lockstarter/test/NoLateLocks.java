// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.test.context.junit.jupiter.SpringExtension;

import io.github.lockstarter.event.LockEvent;

/**
 * A rule for tests with an application context: a test fails if a lock was acquired late
 * while it ran, on any thread, so that its owner may have read before what the lock
 * guards. {@link LockEvent.Late} says what is late.
 *
 * <pre class="code">
 * &#064;SpringBootTest
 * &#064;ExtendWith(NoLateLocks.class)
 * class ShopTests
 * </pre>
 *
 * A test that is {@code @Transactional} itself acquires all its locks inside its
 * transaction, whatever the application does outside of the test. Locks inside this
 * transaction are therefore ignored, so the rule says nothing about them. Do not run
 * tests in parallel that share an application context.
 */
public final class NoLateLocks implements BeforeEachCallback, AfterEachCallback {

	private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(NoLateLocks.class);

	@Override
	public void beforeEach(ExtensionContext test) {
		LateLocks locks = new LateLocks();
		application(test).addApplicationListener(locks);
		test.getStore(NAMESPACE).put(LateLocks.class, locks);
	}

	@Override
	public void afterEach(ExtensionContext test) {
		LateLocks locks = Objects.requireNonNull(test.getStore(NAMESPACE).remove(LateLocks.class, LateLocks.class));
		application(test).removeApplicationListener(locks);
		// Spring names the transaction of a test after its method
		String ofTest = test.getRequiredTestClass().getName() + "." + test.getRequiredTestMethod().getName();
		List<String> late = new ArrayList<>();
		locks.events.stream()
			.filter((event) -> !ofTest.equals(event.transaction()))
			.map((event) -> "'" + event.key() + "' " + event.reason())
			.distinct()
			.forEach(late::add);
		if (!late.isEmpty()) {
			throw new AssertionError("Locks were acquired late: " + String.join(", ", late)
					+ ". What was read before may be stale. Acquire the lock first; or, if nothing that the lock guards"
					+ " is read before, set distributed-lock.on-active-transaction=defer or distributed-lock.persistence-context=ignore");
		}
	}

	private static ConfigurableApplicationContext application(ExtensionContext test) {
		return (ConfigurableApplicationContext) SpringExtension.getApplicationContext(test);
	}

	private static final class LateLocks implements ApplicationListener<PayloadApplicationEvent<LockEvent.Late>> {

		private final Queue<LockEvent.Late> events = new ConcurrentLinkedQueue<>();

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockEvent.Late> event) {
			this.events.add(event.getPayload());
		}

	}

}
