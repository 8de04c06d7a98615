// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * The log of the library during a test, for tests that declare it as a parameter. It
 * captures the log of the JDK, which is used if there is no other one.
 */
public final class CapturedLog extends Handler implements CharSequence {

	private final StringBuffer text = new StringBuffer();

	private CapturedLog() {
		setFormatter(new SimpleFormatter());
	}

	@Override
	public void publish(LogRecord entry) {
		this.text.append(getFormatter().format(entry));
	}

	@Override
	public void flush() {
	}

	@Override
	public void close() {
	}

	@Override
	public int length() {
		return this.text.length();
	}

	@Override
	public char charAt(int index) {
		return this.text.charAt(index);
	}

	@Override
	public CharSequence subSequence(int start, int end) {
		return this.text.subSequence(start, end);
	}

	@Override
	public String toString() {
		return this.text.toString();
	}

	/**
	 * Captures the log.
	 */
	public static final class Extension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

		/** A strong reference, because the JDK forgets loggers without one. */
		private static final Logger LOGGER = Logger.getLogger("io.github.lockstarter");

		private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(Extension.class);

		@Override
		public void beforeEach(ExtensionContext context) {
			CapturedLog log = new CapturedLog();
			context.getStore(NAMESPACE).put(CapturedLog.class, log);
			LOGGER.addHandler(log);
		}

		@Override
		public void afterEach(ExtensionContext context) {
			LOGGER.removeHandler(captured(context));
		}

		@Override
		public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
			return parameter.getParameter().getType() == CapturedLog.class;
		}

		@Override
		public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
			return captured(context);
		}

		private static CapturedLog captured(ExtensionContext context) {
			return context.getStore(NAMESPACE).get(CapturedLog.class, CapturedLog.class);
		}

	}

}
