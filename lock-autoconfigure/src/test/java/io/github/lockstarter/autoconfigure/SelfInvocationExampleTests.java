// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.File;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.WorkerJvm;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The examples of the reference documentation for beans that call themselves.
 */
@ExtendWith(OutputCaptureExtension.class)
@FullProfileOnly
class SelfInvocationExampleTests {

	/** Keeps the aspects of Spring out of the JVM. */
	private static final String ASPECTS = "file:../lock-spring/target/classes/META-INF/aop.xml";

	@Test
	void aJvmWithTheAgentOfAspectJLocksTheOwnPrivateMethodsOfABean() throws Exception {
		try (WorkerJvm application = start(
				List.of("-javaagent:" + agent(), "-Dorg.aspectj.weaver.loadtime.configuration=" + ASPECTS))) {
			assertThat(application.await("stock:")).isEqualTo("1001");
			assertThat(application.await("stock:")).isEqualTo("1002");
			application.awaitSuccess();
		}
	}

	@Test
	void aJvmWithoutItDoesNotStartTheApplication() throws Exception {
		try (WorkerJvm application = start(List.of())) {
			assertThat(application.await("Error creating bean")).contains("StockService.deduct(long)': the class ")
				.contains(" is not woven with the aspect");
		}
	}

	@Test
	void aBeanCanCallItselfThroughItsProxy(CapturedOutput output) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withBean(OrderService.class)
			.run((context) -> assertThat(context.getBean(OrderService.class).placeAll(List.of(7L, 8L)))
				.containsExactly(LockKey.of("order", 7), LockKey.of("order", 8)));
		assertThat(output).doesNotContain("of the same bean");
	}

	private static WorkerJvm start(List<String> options) {
		return WorkerJvm.start(options, ProcessBuilder.Redirect.INHERIT, WovenApplication.class,
				"--distributed-lock.advice-mode=aspectj", "--distributed-lock.store=memory", "--logging.level.root=off",
				"--spring.main.banner-mode=off");
	}

	private static String agent() {
		return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> new File(entry).getName().startsWith("aspectjweaver"))
			.findFirst()
			.orElseThrow();
	}

	@Service
	static class OrderService {

		private final ObjectProvider<OrderService> self;

		OrderService(ObjectProvider<OrderService> self) {
			this.self = self;
		}

		List<LockKey> placeAll(List<Long> orders) {
			return orders.stream().map((order) -> this.self.getObject().place(order)).toList();
		}

		@DistributedLock(name = "order", key = "#order")
		public LockKey place(long order) {
			return Lease.current().key();
		}

	}

}
