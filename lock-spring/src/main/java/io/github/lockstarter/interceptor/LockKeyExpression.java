// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;

import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ObjectUtils;

import io.github.lockstarter.LockKey;

/**
 * The key expression of a method, parsed once. A call fails if the expression has no
 * usable value, because a default key would identify another lock.
 */
final class LockKeyExpression {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private final SpelExpression expression;

	private final Method method;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	private final KeyVariables variables;

	/**
	 * Parse an expression.
	 * @throws org.springframework.expression.ParseException if the text is not an
	 * expression
	 */
	LockKeyExpression(String expression, Method method, BeanResolver beans) {
		this.expression = parser.parseRaw(expression);
		this.method = method;
		this.shared.setBeanResolver(beans);
		this.variables = new KeyVariables(method);
	}

	/**
	 * Return the references that no call can resolve.
	 */
	List<String> unknownReferences() {
		return this.variables.unknownIn(this.expression.getAST());
	}

	/**
	 * Return the beans that the expression refers to, {@code &} included.
	 */
	List<String> beans() {
		List<String> names = new ArrayList<>();
		collectBeans(this.expression.getAST(), names);
		return names;
	}

	/**
	 * Return how to write a text in quotes that mentions parameters, such as
	 * {@code 'stock:#id'}, or {@code null} if there is none. Such a text is one key for
	 * all values of the parameter.
	 */
	@Nullable String unquoted() {
		return this.variables.unquotedIn(this.expression.getAST());
	}

	/**
	 * Return advice on the possible references.
	 */
	String advice() {
		boolean isPlainWord = unknownReferences().stream().anyMatch((reference) -> !reference.startsWith("#"));
		return this.variables.advice() + (isPlainWord ? " Write a constant as 'text' in single quotes." : "");
	}

	/**
	 * Return whether the expression consists of one parameter, which has the given type.
	 */
	boolean isParameterOf(Class<?> type) {
		Class<?> parameter = parameterType();
		return parameter != null && type.isAssignableFrom(parameter);
	}

	/**
	 * Return whether it is known without a call that the expression has several values:
	 * it is a list, a projection, or a parameter that is a collection, an array or a
	 * stream.
	 */
	boolean hasSeveralValues() {
		SpelNode last = this.expression.getAST();
		if (last instanceof CompoundExpression) {
			last = last.getChild(last.getChildCount() - 1);
		}
		Class<?> parameter = parameterType();
		return last instanceof InlineList || last instanceof Projection || (parameter != null && parameter.isArray())
				|| isParameterOf(Collection.class) || isParameterOf(BaseStream.class);
	}

	private @Nullable Class<?> parameterType() {
		int index = this.variables.parameterIndex(this.expression.getAST());
		return (index >= 0) ? this.method.getParameterTypes()[index] : null;
	}

	/**
	 * Evaluate the expression for a call.
	 * @return one key, or the keys of all elements of a collection, an array or a stream
	 * @throws IllegalArgumentException if the expression has no usable value
	 */
	Keys evaluate(String name, Object target, @Nullable Object[] arguments) {
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
				new KeyEvaluationRoot(this.method, target, arguments), this.method, arguments,
				KeyVariables.parameterNames);
		// Reuse the property and method accessors that earlier calls have cached
		this.shared.applyDelegatesTo(context);
		Object value;
		try {
			value = ObjectUtils.unwrapOptional(this.expression.getValue(context));
		}
		catch (EvaluationException ex) {
			throw unusable("could not be evaluated: " + ex.getMessage(), ex);
		}
		if (value instanceof Map) {
			throw unusable("is a map, which is neither a key nor a collection of keys", null);
		}
		List<?> values = elements(value);
		if (values == null) {
			return new Keys(List.of(key(name, value)), false);
		}
		if (values.isEmpty()) {
			throw unusable("is empty: there is nothing to lock", null);
		}
		return new Keys(values.stream().map((element) -> key(name, element)).toList(), true);
	}

	private static void collectBeans(SpelNode node, List<String> names) {
		if (node instanceof BeanReference bean) {
			names.add(bean.toStringAST().replaceAll("^@|'", ""));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collectBeans(node.getChild(i), names);
		}
	}

	private LockKey key(String name, @Nullable Object value) {
		if (value == null) {
			throw unusable("is null", null);
		}
		if (value instanceof Map || elements(value) != null) {
			throw unusable("holds a " + value.getClass().getSimpleName() + " where a single value is required", null);
		}
		try {
			return LockKey.of(name, value);
		}
		catch (IllegalArgumentException ex) {
			throw unusable("cannot be used: " + ex.getMessage(), ex);
		}
	}

	private IllegalArgumentException unusable(String problem, @Nullable Throwable cause) {
		return new IllegalArgumentException(
				"The key of @DistributedLock on '" + MethodLabel.of(this.method) + "', expression '"
						+ this.expression.getExpressionString() + "', " + problem + "; nothing was executed",
				cause);
	}

	private static @Nullable List<?> elements(@Nullable Object value) {
		if (value instanceof Collection<?> collection) {
			return new ArrayList<>(collection);
		}
		if (value instanceof BaseStream<?, ?> stream) {
			List<Object> elements = new ArrayList<>();
			stream.iterator().forEachRemaining(elements::add);
			return elements;
		}
		if (value instanceof byte[] || value instanceof char[]) {
			return null;
		}
		return ObjectUtils.isArray(value) ? Arrays.asList(ObjectUtils.toObjectArray(value)) : null;
	}

	/**
	 * The result of an evaluation.
	 *
	 * @param all the keys, at least one
	 * @param several whether its value is a collection, an array or a stream, even of one
	 * element
	 */
	record Keys(List<LockKey> all, boolean several) {
	}

}
