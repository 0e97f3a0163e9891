# Grades as an ordinary user; docs/jail.md says how to run it.
FROM python:3.12-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends make bubblewrap \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home teacher && install -d -o teacher /course
USER teacher
WORKDIR /course
COPY --chown=teacher . .
RUN make setup && install -d -m 0777 classroom classroom-sample
ENV HOME=/tmp
CMD ["make", "grade"]
