// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

import org.aspectj.lang.JoinPoint;
import org.aspectj.lang.reflect.MethodSignature;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassVisitor;
import org.springframework.asm.FieldVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.util.ReflectionUtils;

/**
 * Determines whether locks are woven into a class. A weaver adds a static field for each
 * join point that an aspect uses. A load-time weaver weaves all known aspects, so the
 * field suffices. If the class was woven at compile time, the class file has to call our
 * aspect as well, because other aspects may have been woven without it.
 */
public final class WovenClass {

	/** By name, because AspectJ is optional. */
	private static final String ASPECT = "io/github/lockstarter/aspectj/DistributedLockAspect";

	private static final String JOIN_POINT = "ajc$tjp_";

	private final Class<?> type;

	private final Set<String> callers = new HashSet<>();

	private boolean wovenWhenCompiled;

	private WovenClass(Class<?> type) {
		this.type = type;
	}

	/**
	 * Read a class.
	 * @param type the class
	 */
	public static WovenClass of(Class<?> type) {
		WovenClass woven = new WovenClass(type);
		StoredClass.accept(type, woven.new Reader());
		return woven;
	}

	/**
	 * Return whether the lock is woven into a method of the class.
	 * @param method the method
	 */
	public boolean isWoven(Method method) {
		return Arrays.stream(this.type.getDeclaredFields())
			.filter((field) -> field.getName().startsWith(JOIN_POINT))
			.anyMatch((field) -> JoinPoints.isExecution(field, method))
				&& (!this.wovenWhenCompiled || this.callers.contains(method.getName()));
	}

	/** Loaded only for woven classes, which need AspectJ anyway. */
	private static final class JoinPoints {

		static boolean isExecution(Field field, Method method) {
			ReflectionUtils.makeAccessible(field);
			return ReflectionUtils.getField(field, null) instanceof JoinPoint.StaticPart part
					&& part.getKind().equals(JoinPoint.METHOD_EXECUTION)
					&& part.getSignature() instanceof MethodSignature signature && method.equals(signature.getMethod());
		}

	}

	private final class Reader extends ClassVisitor {

		Reader() {
			super(SpringAsmInfo.ASM_VERSION);
		}

		@Override
		public @Nullable FieldVisitor visitField(int access, String name, String descriptor, String signature,
				@Nullable Object value) {
			WovenClass.this.wovenWhenCompiled |= name.startsWith(JOIN_POINT);
			return null;
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String @Nullable [] exceptions) {
			// If several aspects are woven into a method, its body calls all but the
			// first
			int end = name.indexOf("_aroundBody");
			String method = (end >= 0) ? name.substring(0, end) : name;
			return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

				@Override
				public void visitMethodInsn(int opcode, String owner, String name, String descriptor,
						boolean isInterface) {
					if (owner.equals(ASPECT) && name.equals("aspectOf")) {
						WovenClass.this.callers.add(method);
					}
				}

			};
		}

	}

}
