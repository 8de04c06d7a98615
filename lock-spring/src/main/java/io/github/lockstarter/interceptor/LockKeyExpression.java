// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.ObjectUtils;

import io.github.lockstarter.LockKey;

/**
 * The key expression of a method, parsed once. A call fails if the expression has no
 * usable value, because a default key would identify another lock.
 */
final class LockKeyExpression {

	private static final SpelExpressionParser parser = new SpelExpressionParser();

	private static final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	private static final Set<String> ROOT_PROPERTIES = Set.of("method", "target", "args");

	private final SpelExpression expression;

	/** The same, except that no part of a text is {@code null}. */
	private final SpelExpression strict;

	private final Method method;

	private final Parameters parameters;

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	/**
	 * Parse an expression.
	 * @throws org.springframework.expression.ParseException if the text is not an
	 * expression
	 */
	LockKeyExpression(String expression, Method method, BeanResolver beans) {
		this.expression = parser.parseRaw(expression);
		this.strict = new SpelExpression(expression, strict((SpelNodeImpl) parser.parseRaw(expression).getAST()),
				new SpelParserConfiguration());
		this.method = method;
		this.parameters = new Parameters(method);
		this.shared.setBeanResolver(beans);
	}

	private static SpelNodeImpl strict(SpelNodeImpl node) {
		SpelNodeImpl[] children = children(node).map((child) -> strict((SpelNodeImpl) child))
			.toArray(SpelNodeImpl[]::new);
		int start = node.getStartPosition();
		int end = node.getEndPosition();
		if (node instanceof OpPlus && children.length == 2) {
			return new OpPlus(start, end, new Part(children[0]), new Part(children[1]));
		}
		if (node instanceof Ternary) {
			return new Ternary(start, end, children);
		}
		if (node instanceof Elvis) {
			return new Elvis(start, end, children);
		}
		if (node instanceof CompoundExpression) {
			return new CompoundExpression(start, end, children);
		}
		if (node instanceof MethodReference call) {
			return new MethodReference(call.isNullSafe(), call.getName(), start, end, children);
		}
		if (node instanceof Indexer) {
			return new Indexer(node.isNullSafe(), start, end, children[0]);
		}
		if (node instanceof Projection) {
			return new Projection(node.isNullSafe(), start, end, children[0]);
		}
		return (node instanceof InlineList) ? new InlineList(start, end, children) : node;
	}

	/**
	 * Evaluate the expression for a call.
	 * @return one key, or the keys of all elements of a collection, an array or a stream
	 * @throws IllegalArgumentException if the expression has no usable value
	 */
	Keys evaluate(String name, @Nullable Object target, @Nullable Object[] arguments) {
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
				new Root(this.method, target, arguments), this.method, arguments, parameterNames);
		// Reuse the property and method accessors that earlier calls have cached
		this.shared.applyDelegatesTo(context);
		context.setTypeConverter(new Texts(name));
		Object value;
		try {
			value = ObjectUtils.unwrapOptional(this.strict.getValue(context));
		}
		catch (EvaluationException ex) {
			String remedy = (ex instanceof SpelEvaluationException)
					? "; correct the expression, or pass arguments for which it has a value" : "";
			throw unusable("could not be evaluated: " + ex.getMessage() + remedy, ex);
		}
		if (value instanceof Map) {
			throw unusable("is a map, which is neither a key nor a collection of keys: add .keySet(), or use an"
					+ " expression with a single value", null);
		}
		List<?> elements = elements(value);
		if (elements == null) {
			return new Keys(List.of(key(name, value)), false);
		}
		if (elements.isEmpty()) {
			throw unusable("is empty, so there is nothing to lock: skip the call if there are no elements", null);
		}
		return new Keys(elements.stream().map((element) -> keyOfElement(name, element)).toList(), true);
	}

	private LockKey keyOfElement(String name, @Nullable Object element) {
		if (element != null && (element instanceof Map || elements(element) != null)) {
			throw unusable("holds a " + element.getClass().getSimpleName() + " where a single value is required: use"
					+ " an expression whose elements are single values", null);
		}
		return key(name, element);
	}

	private LockKey key(String name, @Nullable Object value) {
		if (value == null) {
			throw unusable("is null: check the argument before the call, or use an expression that is never null, such"
					+ " as \"#id ?: 'none'\"", null);
		}
		try {
			return LockKey.of(name, value);
		}
		catch (IllegalArgumentException ex) {
			throw unusable("cannot be used: " + ex.getMessage(), ex);
		}
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

	private IllegalArgumentException unusable(String problem, @Nullable Throwable cause) {
		return new IllegalArgumentException("The key of @DistributedLock on '"
				+ InvalidLockDefinitionException.label(this.method) + "', expression '"
				+ this.expression.getExpressionString() + "', " + problem + "; nothing was executed", cause);
	}

	/**
	 * Return the types of the arguments that an expression may read.
	 * @throws org.springframework.expression.ParseException if the text is not an
	 * expression
	 */
	static Stream<Type> argumentsOf(String expression, Method method) {
		Parameters parameters = new Parameters(method);
		List<SpelNode> nodes = nodes(parser.parseRaw(expression).getAST()).toList();
		// As a property of the root, or its method
		boolean all = nodes.stream().anyMatch((node) -> node.toStringAST().matches("args(\\(\\))?"));
		Type[] types = method.getGenericParameterTypes();
		return all ? Arrays.stream(types)
				: nodes.stream()
					.filter(VariableReference.class::isInstance)
					.mapToInt((node) -> parameters.indexOf(nameOf((VariableReference) node)))
					.filter((index) -> index >= 0)
					.mapToObj((index) -> types[index]);
	}

	/**
	 * Return the references that no call can resolve.
	 */
	List<String> unknownReferences() {
		Stream<String> variables = nodes()
			.filter((node) -> node instanceof FunctionReference
					|| (node instanceof VariableReference variable && !isKnown(variable)))
			.map(SpelNode::toStringAST);
		return Stream.concat(variables, bareWords(this.expression.getAST())).toList();
	}

	private boolean isKnown(VariableReference variable) {
		String name = nameOf(variable);
		return name.equals("root") || name.equals("this") || this.parameters.contains(name);
	}

	/** A parameter without its # would be a property of the root. */
	private static Stream<String> bareWords(SpelNode node) {
		if (node instanceof PropertyOrFieldReference property) {
			return ROOT_PROPERTIES.contains(property.getName()) ? Stream.empty() : Stream.of(property.getName());
		}
		if (node instanceof CompoundExpression) {
			return bareWords(node.getChild(0));
		}
		return (node instanceof Operator || node instanceof Ternary || node instanceof Elvis)
				? children(node).flatMap(LockKeyExpression::bareWords) : Stream.empty();
	}

	/**
	 * Return advice on the possible references.
	 */
	String advice() {
		boolean isBareWord = bareWords(this.expression.getAST()).findFirst().isPresent();
		return this.parameters.advice() + (isBareWord ? " Write a constant as 'text' in single quotes." : "");
	}

	/**
	 * Return the beans that the expression refers to, {@code &} included.
	 */
	List<String> beans() {
		return nodes().filter(BeanReference.class::isInstance)
			.map((bean) -> bean.toStringAST().replaceAll("^@|'", ""))
			.toList();
	}

	/**
	 * Return how to write a text in quotes that mentions parameters, such as
	 * {@code 'stock:#id'}, or {@code null} if there is none. Such a text is one key for
	 * all values of the parameter.
	 */
	@Nullable String unquoted() {
		return nodes().filter(StringLiteral.class::isInstance)
			.map((literal) -> this.parameters
				.unquote(String.valueOf(((StringLiteral) literal).getLiteralValue().getValue())))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Return whether the expression consists of one parameter, which has the given type.
	 */
	boolean isParameterOf(Class<?> type) {
		Class<?> parameter = parameterType();
		return parameter != null && type.isAssignableFrom(parameter);
	}

	private @Nullable Class<?> parameterType() {
		int index = (this.expression.getAST() instanceof VariableReference variable)
				? this.parameters.indexOf(nameOf(variable)) : -1;
		return (index >= 0) ? this.method.getParameterTypes()[index] : null;
	}

	private Stream<SpelNode> nodes() {
		return nodes(this.expression.getAST());
	}

	private static Stream<SpelNode> nodes(SpelNode node) {
		return Stream.concat(Stream.of(node), children(node).flatMap(LockKeyExpression::nodes));
	}

	private static Stream<SpelNode> children(SpelNode node) {
		return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild);
	}

	private static String nameOf(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

	/**
	 * Gives values within a text, such as {@code 'id ' + #id}, the text that they have as
	 * a key. SpEL itself takes any {@code toString()}.
	 */
	private static final class Texts extends StandardTypeConverter {

		private final String name;

		Texts(String name) {
			this.name = name;
		}

		@Override
		public boolean canConvert(@Nullable TypeDescriptor sourceType, TypeDescriptor targetType) {
			return targetType.getType() == String.class || super.canConvert(sourceType, targetType);
		}

		@Override
		public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor sourceType,
				TypeDescriptor targetType) {
			if (value == null || value instanceof CharSequence || value instanceof Character
					|| targetType.getType() != String.class) {
				return super.convertValue(value, sourceType, targetType);
			}
			try {
				return LockKey.of(this.name, value).key();
			}
			catch (IllegalArgumentException ex) {
				throw new EvaluationException(String.valueOf(ex.getMessage()), ex);
			}
		}

	}

	/**
	 * A part of a text. SpEL writes one that is {@code null} like the text
	 * {@code "null"}, which would be the same key.
	 */
	private static final class Part extends SpelNodeImpl {

		Part(SpelNodeImpl value) {
			super(value.getStartPosition(), value.getEndPosition(), value);
		}

		@Override
		public TypedValue getValueInternal(ExpressionState state) {
			TypedValue value = this.children[0].getValueInternal(state);
			if (value.getValue() == null) {
				throw new EvaluationException("its part " + toStringAST() + " is null: check the argument before the"
						+ " call, or use a part that is never null, such as \"(#id ?: 'none')\"");
			}
			return value;
		}

		@Override
		public String toStringAST() {
			return this.children[0].toStringAST();
		}

	}

	/**
	 * The {@code #root} object of an expression.
	 *
	 * @param method the annotated method
	 * @param target the bean
	 * @param args the arguments of the call
	 */
	record Root(Method method, @Nullable Object target, @Nullable Object[] args) {
	}

	/**
	 * The keys of a call.
	 *
	 * @param all the keys, at least one
	 * @param several whether the value of the expression is a collection, an array or a
	 * stream, even of one element
	 */
	record Keys(List<LockKey> all, boolean several) {
	}

	/**
	 * The parameters of a method, by all names that an expression may use.
	 */
	static final class Parameters {

		private static final Pattern REFERENCE = Pattern.compile("#([\\w$]+)");

		private final Method method;

		private final @Nullable String @Nullable [] names;

		Parameters(Method method) {
			this.method = method;
			this.names = parameterNames.getParameterNames(method);
		}

		/**
		 * Return the first reference to a parameter in a text that is not evaluated, or
		 * {@code null} if there is none.
		 */
		@Nullable String referenceIn(String text) {
			return REFERENCE.matcher(text)
				.results()
				.filter((reference) -> contains(reference.group(1)))
				.map(MatchResult::group)
				.findFirst()
				.orElse(null);
		}

		private @Nullable String unquote(String text) {
			if (referenceIn(text) == null) {
				return null;
			}
			String concatenated = REFERENCE.matcher("'" + text + "'")
				.replaceAll((reference) -> Matcher.quoteReplacement(
						contains(reference.group(1)) ? "' + " + reference.group() + " + '" : reference.group()));
			return concatenated.replace("'' + ", "").replace(" + ''", "");
		}

		private boolean contains(String variable) {
			return indexOf(variable) >= 0;
		}

		private int indexOf(String variable) {
			for (int i = 0; i < this.method.getParameterCount(); i++) {
				if (variable.equals("p" + i) || variable.equals("a" + i)
						|| (this.names != null && variable.equals(this.names[i]))) {
					return i;
				}
			}
			return -1;
		}

		private String advice() {
			if (this.names == null) {
				return "The class was compiled without parameter names: compile it with -parameters, or use #p0, #p1, …";
			}
			if (this.names.length == 0) {
				return "The method has no parameters.";
			}
			String parameters = "The parameters are: #" + String.join(", #", this.names) + ".";
			return (LockAnnotations.inheritedFrom(this.method) instanceof Method)
					? parameters + " Name them as in the method that declares the annotation, or use #p0, #p1, …"
					: parameters;
		}

	}

}
