// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.SocketAddress;

import io.lettuce.core.tracing.TraceContext;
import io.lettuce.core.tracing.TraceContextProvider;
import io.lettuce.core.tracing.Tracer;
import io.lettuce.core.tracing.TracerProvider;
import io.lettuce.core.tracing.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * The tracing of the application, without the commands that no caller waits for: each
 * renewal, and each command of a new connection, would be a trace of its own.
 *
 * @param application what the application has configured
 */
record TracingOfCallers(Tracing application) implements Tracing {

	private static final Tracer NONE = Tracing.disabled().getTracerProvider().getTracer();

	@Override
	public TracerProvider getTracerProvider() {
		Tracer tracer = this.application.getTracerProvider().getTracer();
		return () -> new Tracer() {

			@Override
			public Span nextSpan() {
				return NONE.nextSpan();
			}

			@Override
			public Span nextSpan(@Nullable TraceContext caller) {
				return (caller != null) ? tracer.nextSpan(caller) : nextSpan();
			}

		};
	}

	@Override
	public TraceContextProvider initialTraceContextProvider() {
		return this.application.initialTraceContextProvider();
	}

	@Override
	public boolean isEnabled() {
		return this.application.isEnabled();
	}

	@Override
	public boolean includeCommandArgsInSpanTags() {
		return this.application.includeCommandArgsInSpanTags();
	}

	@Override
	public Endpoint createEndpoint(SocketAddress address) {
		return this.application.createEndpoint(address);
	}

}
