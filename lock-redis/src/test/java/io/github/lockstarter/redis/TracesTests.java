// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.tracing.LettuceObservationContext;
import io.lettuce.core.tracing.MicrometerTracing;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application observes its Lettuce, as with the support of Spring Boot for it.
 */
@Tag("clock")
class TracesTests {

	private final ObservationRegistry observations = ObservationRegistry.create();

	private final List<LettuceObservationContext> commands = new CopyOnWriteArrayList<>();

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	@AutoClose("shutdown")
	private final ClientResources resources = ClientResources.builder()
		.tracing(new MicrometerTracing(this.observations, "Redis"))
		.build();

	@Test
	void requestsOfACallerAreInItsTraceAndAllOthersAreNoTracesOfTheirOwn() {
		this.observations.observationConfig().observationHandler(new Commands());
		LettuceConnectionFactory connections = new LettuceConnectionFactory(RedisRegistry.server(this.redis.port()),
				LettuceClientConfiguration.builder()
					.clientResources(this.resources)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		try (RedisRegistry registry = RedisRegistry.of(connections, RedisRegistry.often(Duration.ofSeconds(10)))) {
			registry.awaitConnected(this.redis);
			Observation caller = Observation.start("caller", this.observations);
			Lease lease = Objects.requireNonNull(caller.scoped(() -> registry.acquire(LockRequest.of("stock", 1001))));
			Awaitility.await().until(() -> renewals(registry) >= 3);
			caller.scoped(lease::close);
			Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}").equals("0"));
			assertThat(commands(caller)).containsExactly("EVALSHA", "EVALSHA");
			assertThat(commands(null)).as("traces without a caller").isEmpty();
		}
	}

	private static long renewals(RedisRegistry registry) {
		return ((DefaultLockRegistry) registry.registry()).localState().held().get(0).renewals();
	}

	private List<String> commands(@Nullable Observation caller) {
		return this.commands.stream()
			.filter((each) -> each.getParentObservation() == caller)
			.map((each) -> each.getRequiredCommand().getType().toString())
			.toList();
	}

	/**
	 * Notes the commands that are observed.
	 */
	private final class Commands implements ObservationHandler<LettuceObservationContext> {

		@Override
		public void onStart(LettuceObservationContext context) {
			TracesTests.this.commands.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof LettuceObservationContext;
		}

	}

}
