// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.util.function.Supplier;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.integration.Slf4jThreadLocalAccessor;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * The context of a thread in an application with security, tracing and an MDC, whose
 * accessors are registered as there, and with a thread local of its own.
 *
 * @param user who is authenticated
 * @param trace the name of the current observation
 * @param mdc an entry of the MDC
 * @param tenant the thread local of the application
 */
public record CallerContext(@Nullable String user, @Nullable String trace, @Nullable String mdc,
		@Nullable String tenant) {

	/** The context of a thread that works for nobody. */
	public static final CallerContext NONE = of(null);

	private static final ThreadLocal<@Nullable String> tenants = new ThreadLocal<>();

	private static final ObservationRegistry observations = ObservationRegistry.create();

	static {
		observations.observationConfig().observationHandler((context) -> true);
	}

	/**
	 * Return the context of a caller.
	 * @param name its value everywhere
	 */
	public static CallerContext of(@Nullable String name) {
		return new CallerContext(name, name, name, name);
	}

	/**
	 * Return the context of the current thread.
	 */
	public static CallerContext current() {
		Authentication user = SecurityContextHolder.getContext().getAuthentication();
		Observation trace = observations.getCurrentObservation();
		return new CallerContext((user != null) ? user.getName() : null,
				(trace != null) ? trace.getContext().getName() : null, MDC.get("caller"), tenants.get());
	}

	/**
	 * Register what the starters of an application register.
	 */
	public static void registerAccessors() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(new Slf4jThreadLocalAccessor());
		ContextRegistry.getInstance().registerThreadLocalAccessor("tenant", tenants);
	}

	public static void removeAccessors() {
		ContextRegistry.getInstance().removeThreadLocalAccessor(Slf4jThreadLocalAccessor.KEY);
		ContextRegistry.getInstance().removeThreadLocalAccessor("tenant");
	}

	/**
	 * Do something on the current thread as a caller, and check that its context is the
	 * same afterwards.
	 */
	public static <T> T as(String name, Supplier<T> action) {
		SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken(name, "password"));
		MDC.put("caller", name);
		tenants.set(name);
		Observation trace = Observation.start(name, observations);
		try (Observation.Scope scope = trace.openScope()) {
			T result = action.get();
			if (!current().equals(of(name))) {
				throw new AssertionError("The caller has another context after its call: " + current());
			}
			return result;
		}
		finally {
			tenants.remove();
			MDC.remove("caller");
			SecurityContextHolder.clearContext();
		}
	}

}
