// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * When a template calls the handler of an outage, and when it does not.
 */
class LockTemplateOutageTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest AT_ONCE = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	private static final LockRequest OTHER_AT_ONCE = LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO);

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP);

	private final LockTemplate template = new LockTemplate(this.registry);

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void onAnOutageItsHandlerRunsInsteadOfTheBodyAndWithoutTheLock() {
		this.store.acquire.loseRequests(() -> true);
		String result = this.template.executeOrElse(AT_ONCE, this::countedBody,
				LockTemplateOutageTests::unexpectedHandler, (outage) -> {
					assertThatIllegalStateException().isThrownBy(Lease::current);
					assertThat(outage.getKey()).isEqualTo(KEY);
					assertThat(outage).hasRootCauseMessage("request lost");
					return "handler";
				});
		assertThat(result).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void aGrantWhoseAnswerWasLostIsAnOutage() {
		this.store.acquire.loseAnswers(() -> true);
		assertThat(executeOrHandleOutage(this::countedBody)).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void aRegistryThatShutsDownIsAnOutage() {
		this.registry.drain();
		assertThat(executeOrHandleOutage(this::countedBody)).isEqualTo("handler");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void contentionIsNotHandledAsAnOutage() {
		new StoreClient(this.store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(30), false);
		String result = this.template.executeOrElse(AT_ONCE, this::countedBody, (contention) -> "contention",
				LockTemplateOutageTests::unexpectedHandler);
		assertThat(result).isEqualTo("contention");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void anOutageThatTheHandlerOfContentionThrowsIsNotHandled() {
		new StoreClient(this.store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(30), false);
		LockUnavailableException expected = new LockUnavailableException(KEY, "no answer", null);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.executeOrElse(AT_ONCE, this::countedBody, (contention) -> {
				throw expected;
			}, LockTemplateOutageTests::unexpectedHandler))
			.isSameAs(expected);
	}

	@Test
	void anOutageWithinTheBodyIsNotHandled() {
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			this.store.acquire.loseRequests(() -> true);
			return this.template.execute(OTHER_AT_ONCE, this::countedBody);
		})).satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(OTHER_AT_ONCE.key()));
		this.store.acquire.loseRequests(() -> false);
		LockUnavailableException expected = new LockUnavailableException(KEY, "no answer", null);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			throw expected;
		})).isSameAs(expected);
		assertThat(this.runs).hasValue(0);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLossIsNotHandledAsAnOutage() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> executeUnhandled((lease) -> {
			this.memory.clear();
			return countedBody(lease);
		}));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void anInterruptIsNotHandledAsAnOutage() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> executeUnhandled(this::countedBody));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void theExceptionOfTheHandlerIsThrownAsItIs() {
		this.store.acquire.loseRequests(() -> true);
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.template.<Lease, String, IOException>executeOrElse(AT_ONCE, this::countedBody,
					LockTemplateOutageTests::unexpectedHandler, (outage) -> {
						throw expected;
					}))
			.isSameAs(expected);
	}

	private String executeOrHandleOutage(LockedBody<Lease, String, RuntimeException> body) {
		return this.template.executeOrElse(AT_ONCE, body, LockTemplateOutageTests::unexpectedHandler,
				(outage) -> "handler");
	}

	private String executeUnhandled(LockedBody<Lease, String, RuntimeException> body) {
		return this.template.executeOrElse(AT_ONCE, body, LockTemplateOutageTests::unexpectedHandler,
				LockTemplateOutageTests::unexpectedHandler);
	}

	private String countedBody(Lease lease) {
		this.runs.incrementAndGet();
		return "body";
	}

	private static String unexpectedHandler(LockException reason) {
		throw new AssertionError("must not be called", reason);
	}

}
